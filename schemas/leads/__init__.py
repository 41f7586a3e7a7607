"""Leads in the API."""
