"""The rules, one per file, in the order in which their reasons are named."""

from domain.fraud.facts import ClickFacts, LeadFacts
from domain.fraud.rule import Rule
from domain.fraud.rules import (
    banned_referrer,
    bot_agent,
    burst,
    daily_cap,
    data_centre,
    device_spread,
    disposable_domain,
    headless,
    language_mismatch,
    no_mx,
    paid_ads,
    rapid,
    self_lead,
)

#: What is looked for in a click.
CLICK_RULES: tuple[Rule[ClickFacts], ...] = (
    bot_agent.RULE,
    headless.RULE,
    data_centre.RULE,
    banned_referrer.RULE,
    paid_ads.RULE,
    burst.RULE,
    device_spread.RULE,
    rapid.RULE,
    language_mismatch.RULE,
)

#: What is looked for in a lead, besides the verdict on its click.
LEAD_RULES: tuple[Rule[LeadFacts], ...] = (
    disposable_domain.RULE,
    no_mx.RULE,
    self_lead.RULE,
    daily_cap.RULE,
)
