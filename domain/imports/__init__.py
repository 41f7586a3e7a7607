"""Imports of the past: rows of sales, files of rows, and why a row cannot be taken."""
