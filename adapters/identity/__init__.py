"""Who a token speaks for: `tokens` verifies it with `keys` out of an identity provider's `sources`."""
