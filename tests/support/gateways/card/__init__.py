"""Fake card and payment gateways."""
