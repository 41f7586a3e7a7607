"""One device clicks faster than a person."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

#: Milliseconds that lie between two clicks of a person.
LEAST_MS = 1000


def _holds(click: ClickFacts) -> bool:
    return click.ms_since_last is not None and click.ms_since_last < LEAST_MS


RULE = Rule("rapid", 30, _holds)
