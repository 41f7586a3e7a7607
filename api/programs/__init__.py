"""Campaigns: records, numbers, groups, tiers, terms for recruiting."""
