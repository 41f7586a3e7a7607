"""Where codes are minted: the gateways that let us make discount codes."""
