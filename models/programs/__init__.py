"""Programs (campaigns) with their former slugs, groups, tiers, budgets, numbers and assets."""
