"""Affiliates of a brand."""
