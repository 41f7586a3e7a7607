"""Imports of the past, and how one is taken back."""
