"""Clicks, the batches in which they are inserted, and the links that public slugs lead to."""
