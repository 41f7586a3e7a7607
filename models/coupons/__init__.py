"""Coupons, grants to mint their codes, and the codes of affiliates."""
