"""Code rails: the gateways at which we create discount codes."""
