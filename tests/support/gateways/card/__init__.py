"""The gateways that take cards and payments."""
