"""Creator deals in the API."""
