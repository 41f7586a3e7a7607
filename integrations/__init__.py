"""Packages that run elsewhere: clients of the interface, and their generator."""
