"""Native connections in the API."""
