"""The dashboard: what people of a brand see. One module per screen."""

from pages.brand import affiliates, imports, overview, payouts

BLUEPRINTS = (
    overview.blueprint,
    *affiliates.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *payouts.BLUEPRINTS,
)
