"""Newsletter and CRM platforms: what they know about a buyer, and when it is looked up."""
