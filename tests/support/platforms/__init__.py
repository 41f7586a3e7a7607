"""Fake newsletter and CRM platforms: each serves the API of one platform over HTTP, on a port of this machine."""
