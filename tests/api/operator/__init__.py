"""API of operators."""
