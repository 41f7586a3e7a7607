"""Sales and conversions on the wire."""
