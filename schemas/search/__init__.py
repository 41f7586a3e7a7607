"""Search over the records of a brand."""
