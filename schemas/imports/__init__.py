"""Rows of imports on the wire."""
