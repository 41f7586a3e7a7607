"""Variants of gunicorn.conf.py for web servers of the tests."""
