"""Clicks and what installs them, on the wire."""
