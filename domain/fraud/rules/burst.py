"""One network clicks on one link more often than people who share an address would."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

#: Clicks within an hour that a network has free.
MOST_PER_HOUR = 20

RULE: Rule[ClickFacts] = Rule("burst", 40, lambda click: click.network_clicks > MOST_PER_HOUR)
