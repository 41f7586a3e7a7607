"""Invitations: written, sent, accepted."""
