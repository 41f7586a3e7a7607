"""The portal: what affiliates see. One module per screen."""

from pages.portal import home

BLUEPRINTS = (home.blueprint,)
