"""Signing in and out: by one-time links (`links`) and at an identity provider (`providers`); `leading` is both's."""

from pages.sign_in import links, providers

BLUEPRINTS = (links.blueprint, providers.blueprint)
