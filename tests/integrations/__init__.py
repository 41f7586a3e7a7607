"""Checks of integrations/ that do not run it."""
