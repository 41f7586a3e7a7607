"""Creator deals on the wire."""
