"""The domain of the address takes no mail. Name servers that did not answer say nothing."""

from domain.fraud.facts import LeadFacts
from domain.fraud.rule import Rule

RULE: Rule[LeadFacts] = Rule("no_mx", 40, lambda lead: lead.has_mx is False)
