"""The console: what the operator sees. One module per screen."""

from pages.console import now

BLUEPRINTS = (now.blueprint,)
