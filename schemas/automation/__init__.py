"""Requests and responses of no-code platforms: hooks, samples, searches."""
