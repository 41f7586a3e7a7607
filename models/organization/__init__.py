"""Tenants: their API keys, members, sessions and audit log."""
