"""Affiliates on the wire."""
