"""The visit comes from a site that the brand wants no visits from, or from a host below it."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule
from domain.organization import host_names


def _holds(click: ClickFacts) -> bool:
    host = click.referrer_host
    if host is None or not click.banned_referrers:
        return False
    return any(host_names.is_within(host, banned) for banned in click.banned_referrers)


RULE = Rule("banned_referrer", 60, _holds)
