"""Leads on the wire."""
