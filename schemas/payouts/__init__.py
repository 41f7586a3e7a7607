"""Payouts on the wire."""
