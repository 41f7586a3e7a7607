"""Reference rates, and the SQL by which a statement values money in another currency."""
