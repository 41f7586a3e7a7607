"""Copies of a PostgreSQL, made from its own programs."""
