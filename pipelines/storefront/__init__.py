"""Strangers: which campaign they see, and their application."""
