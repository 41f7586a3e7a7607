"""Rows that a switch brings."""
