"""Bare programs that the product is compared with: the same machine without the product's work."""
