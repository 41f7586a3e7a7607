"""Imports of affiliates and conversions, and their undo."""
