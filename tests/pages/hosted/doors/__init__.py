"""Checkout doors of campaigns."""
