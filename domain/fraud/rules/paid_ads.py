"""The visit was bought: the page carries the click id of an advertising network."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

#: Parameters that advertising networks add to the pages they send people to.
PARAMETERS = frozenset(
    {
        "gclid",
        "gbraid",
        "wbraid",
        "dclid",
        "fbclid",
        "msclkid",
        "ttclid",
        "twclid",
        "li_fat_id",
        "epik",
        "rdt_cid",
        "scclid",
        "yclid",
    }
)


def _holds(click: ClickFacts) -> bool:
    return not PARAMETERS.isdisjoint(map(str.lower, click.query_names))


RULE = Rule("paid_ads", 30, _holds)
