"""Rows of imports in the API."""
