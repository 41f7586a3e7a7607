"""The address is of a service that gives out addresses to be thrown away."""

from domain.fraud.facts import LeadFacts
from domain.fraud.rule import Rule

RULE: Rule[LeadFacts] = Rule("disposable_domain", 60, lambda lead: lead.is_disposable)
