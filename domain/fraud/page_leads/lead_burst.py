"""One network sends more leads of one affiliate than people who share an address would."""

from domain.fraud.facts import PageLeadFacts
from domain.fraud.rule import Rule

#: Leads of one affiliate within an hour that a network has free.
MAX_PER_HOUR = 20

RULE: Rule[PageLeadFacts] = Rule("lead_burst", 50, lambda lead: lead.network_leads > MAX_PER_HOUR)
