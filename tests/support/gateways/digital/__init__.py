"""Fake gateways for digital goods."""
