"""Clicks, the batches they are written in, and which link a public slug leads to."""
