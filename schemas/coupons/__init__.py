"""Coupons and their codes in the API."""
