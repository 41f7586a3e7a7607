"""Clicks and what installs them, in the API."""
