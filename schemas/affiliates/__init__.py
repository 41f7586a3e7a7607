"""Affiliates in the API."""
