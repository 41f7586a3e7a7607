"""Copies of the database and the way back: PostgreSQL's own programs, told what to do."""
