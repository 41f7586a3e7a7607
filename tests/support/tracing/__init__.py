"""A collector of trace spans."""
