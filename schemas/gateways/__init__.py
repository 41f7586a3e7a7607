"""Native connections on the wire."""
