"""The bare things that the product is measured beside: what the same machine does when nothing is asked of it."""
