"""Campaigns on the wire."""
