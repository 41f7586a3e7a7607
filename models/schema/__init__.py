"""Applies one file of `models/migrations` (`steps`). `models/migrate.py` decides which ones, and in which order."""
