"""A brand's settings on the wire."""
