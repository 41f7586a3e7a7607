"""External services that the operator chooses."""
