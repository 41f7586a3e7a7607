"""Invitations: what a brand does with them, what who was invited may ask, and their page."""
