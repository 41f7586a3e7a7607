"""The outside world: one module per kind of system this product talks to."""
