"""Campaigns in the API."""
