"""Fake subscription billing platforms."""
