"""Tenants: their keys, people and audit trail."""
