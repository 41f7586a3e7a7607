"""Imports of past data, and their undoing."""
