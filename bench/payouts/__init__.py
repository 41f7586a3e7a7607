"""Payouts previewed, run and sent."""
