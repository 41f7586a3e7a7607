"""Gateways of digital goods for the tests."""
