"""Campaigns.

programs            their records
numbers             statistics, tracking, recent events, budgets
daily               what they brought in by day
partner_groups      affiliates who share a rate
performance_tiers   rates that grow with what is sold
sub_affiliates      whether recruiting pays, and what
"""

from api.programs import daily, numbers, partner_groups, performance_tiers, programs, sub_affiliates

BLUEPRINTS = (
    programs.blueprint,
    numbers.blueprint,
    daily.blueprint,
    partner_groups.blueprint,
    performance_tiers.blueprint,
    sub_affiliates.blueprint,
)
