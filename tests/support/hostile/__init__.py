"""What callers send who mean to be expensive."""
