"""The affiliate is their own lead; it is never accepted."""

from domain import emails
from domain.fraud.facts import LeadFacts
from domain.fraud.rule import Rule


def _holds(lead: LeadFacts) -> bool:
    return emails.normalize(lead.email) == emails.normalize(lead.affiliate_email)


RULE = Rule("self_lead", 100, _holds)
