"""Coupons and their codes on the wire."""
