"""One device goes through many links of the same affiliate."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

#: Links of one affiliate that a device has free.
MOST_LINKS = 5

RULE: Rule[ClickFacts] = Rule("device_spread", 30, lambda click: click.device_links > MOST_LINKS)
