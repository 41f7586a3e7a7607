"""Visits: told by a page, by its picture or by a short link; the script that tells them, and how it is installed."""
