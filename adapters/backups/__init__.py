"""Backups of the database and their recovery, with PostgreSQL's own programs."""
