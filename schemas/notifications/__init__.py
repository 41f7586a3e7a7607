"""Notifications of a brand's people in the API."""
