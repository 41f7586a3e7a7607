"""Leads, free and paid."""
