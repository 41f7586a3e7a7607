"""The dashboard: what people of a brand see. One module per screen."""

from pages.brand import affiliates, conversions, imports, overview, payouts, programs

BLUEPRINTS = (
    overview.blueprint,
    *programs.BLUEPRINTS,
    *affiliates.BLUEPRINTS,
    *conversions.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *payouts.BLUEPRINTS,
)
