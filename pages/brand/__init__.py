"""The dashboard: what people of a brand see. One module per screen."""

from pages.brand import affiliates, conversions, coupons, imports, overview, payouts, programs, review, webhooks

BLUEPRINTS = (
    overview.blueprint,
    *affiliates.BLUEPRINTS,
    *conversions.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *payouts.BLUEPRINTS,
    *programs.BLUEPRINTS,
    *review.BLUEPRINTS,
    *webhooks.BLUEPRINTS,
    *coupons.BLUEPRINTS,
)
