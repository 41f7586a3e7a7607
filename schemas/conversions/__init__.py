"""Sales and conversions in the API."""
