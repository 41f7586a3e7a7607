"""Figures of native connections: events of a payment gateway that come in, become conversions, and are listed again."""
