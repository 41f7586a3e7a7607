"""Campaigns.

programs            their records
domain              the verification of their custom domains
numbers             statistics, tracking, recent events, budgets
daily               clicks, sales and leads by day
metrics             grouped metrics, and the leaderboard
partner_groups      affiliates who share a rate
performance_tiers   rates that grow with the sales
assets              texts and images for affiliates
asset_files         the download of such an image
hero_images         images for landing pages
sub_affiliates      the commission for recruiting
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
