"""Payouts in the API."""
