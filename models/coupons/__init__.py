"""Coupons, who may mint their codes, and the codes of affiliates."""
