"""Signing in and out: by one-time links (`links`) and at an identity provider (`providers`); both use `redirects`."""

from pages.sign_in import links, providers

BLUEPRINTS = (links.blueprint, providers.blueprint)
