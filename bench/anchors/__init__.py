"""Minimal programs with which the product is compared: the same machine without the product's work."""
