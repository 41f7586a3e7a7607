"""Fake shop systems."""
