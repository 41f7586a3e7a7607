"""The affiliate brought as many leads today as the campaign takes; one more is never accepted."""

from domain.fraud.facts import LeadFacts
from domain.fraud.rule import Rule


def _holds(lead: LeadFacts) -> bool:
    return lead.daily_cap is not None and lead.leads_today > lead.daily_cap


RULE = Rule("daily_cap", 100, _holds)
