"""Merge tags and pace of emails, and the address of the mail server."""
