"""Screens of the operator."""
