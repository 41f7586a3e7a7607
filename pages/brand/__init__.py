"""The dashboard: what people of a brand see. One module per screen."""

from pages.brand import (
    affiliates,
    assets,
    connections,
    conversions,
    copilot,
    coupons,
    deals,
    embed,
    imports,
    invites,
    overview,
    payouts,
    programs,
    review,
    settings,
    webhooks,
)

BLUEPRINTS = (
    overview.blueprint,
    *affiliates.BLUEPRINTS,
    invites.blueprint,
    *conversions.BLUEPRINTS,
    *imports.BLUEPRINTS,
    *payouts.BLUEPRINTS,
    *programs.BLUEPRINTS,
    *review.BLUEPRINTS,
    *webhooks.BLUEPRINTS,
    *settings.BLUEPRINTS,
    *coupons.BLUEPRINTS,
    *connections.BLUEPRINTS,
    *deals.BLUEPRINTS,
    assets.blueprint,
    embed.blueprint,
    copilot.blueprint,
)
