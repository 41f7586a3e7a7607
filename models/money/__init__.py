"""Reference rates, and SQL that values money in another currency."""
