"""Shared parts of all routes: declarations, request bodies, ids, errors, idempotency, pages of lists, the audit log."""
