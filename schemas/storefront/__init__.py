"""Requests and responses of anonymous callers."""
