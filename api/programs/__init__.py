"""Campaigns.

programs            their records
domain              what proves their custom domains
numbers             statistics, tracking, recent events, budgets
daily               what they brought in by day
metrics             what they brought in, grouped; who brought the most
partner_groups      affiliates who share a rate
performance_tiers   rates that grow with what is sold
assets              texts and images for affiliates
asset_files         how such an image is given out
hero_images         pictures for landing pages
sub_affiliates      whether recruiting pays, and what
"""

from api.programs import (
    assets,
    daily,
    domain,
    hero_images,
    metrics,
    numbers,
    partner_groups,
    performance_tiers,
    programs,
    sub_affiliates,
)

BLUEPRINTS = (
    programs.blueprint,
    domain.blueprint,
    numbers.blueprint,
    daily.blueprint,
    metrics.blueprint,
    partner_groups.blueprint,
    performance_tiers.blueprint,
    assets.blueprint,
    hero_images.blueprint,
    sub_affiliates.blueprint,
)
