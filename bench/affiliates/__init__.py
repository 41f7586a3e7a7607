"""Lists of affiliates."""
