"""The visitor who sends the lead never clicked a link of the affiliate within the cookie window.

People change networks and browsers between the click and the form, so it never holds a lead alone.
"""

from domain.fraud.facts import PageLeadFacts
from domain.fraud.rule import Rule

RULE: Rule[PageLeadFacts] = Rule("no_click", 20, lambda lead: not lead.has_click)
