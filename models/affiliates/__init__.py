"""Affiliates, their links, accounts, recruits and tax forms."""
