"""Verifies tokens: `tokens` checks them with the keys (`key_sets`) of an identity provider's `sources`."""
