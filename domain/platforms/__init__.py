"""Newsletter and CRM platforms: what they know of a buyer, and when they are asked for it."""
