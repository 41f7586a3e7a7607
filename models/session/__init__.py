"""A connection to PostgreSQL: how statements travel on it, and what the server is told about it."""
