"""Clicks on their way in and into the tables."""
