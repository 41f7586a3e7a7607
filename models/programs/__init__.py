"""Campaigns with their former slugs, groups, tiers, budgets and numbers."""
