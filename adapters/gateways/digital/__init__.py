"""Gateways of digital goods: gumroad, lemonsqueezy, thrivecart."""
