"""Clicks: accepted by the web process, and written to the tables."""
