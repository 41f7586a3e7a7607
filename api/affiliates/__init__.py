"""Affiliates as a brand sees them: records, decisions about them, links, recruits, tax forms."""
