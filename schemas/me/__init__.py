"""Responses about an affiliate's own data, at every brand."""
