"""The fraud rules: one row each, in the order in which their reasons are listed in a verdict.

A new rule is one row here, and a field of its facts (`domain.fraud.facts`) where it looks at something new.
Source: core spec, "Click and lead fraud review".
"""

import functools
import re
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from domain import emails
from domain.fraud import languages
from domain.fraud.facts import ClickFacts, LeadFacts, PageLeadFacts
from domain.organization import host_names

Facts = TypeVar("Facts")

#: Clicks on one link that a network may make within an hour without suspicion.
MAX_NETWORK_CLICKS_PER_HOUR = 20
#: Leads of one affiliate that a network may send within an hour without suspicion.
MAX_NETWORK_LEADS_PER_HOUR = 20

_MAX_DEVICE_LINKS = 5
_MIN_MS_BETWEEN_CLICKS = 1000
_CACHED_AGENTS = 4096
_BROWSER_TOOLS = re.compile(r"headless|phantomjs|puppeteer|playwright|selenium|webdriver|slimerjs", re.IGNORECASE)
_AD_PARAMETERS = frozenset(
    {"gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "ttclid", "twclid", "li_fat_id", "epik", "rdt_cid"}
    | {"scclid", "yclid"}
)


class Rule(NamedTuple, Generic[Facts]):
    """A suspicion: the reason that is stored, its points of 100, its test, and what it means in words."""

    reason: str
    points: int
    holds: Callable[[Facts], bool]
    meaning: str


@functools.lru_cache(maxsize=_CACHED_AGENTS)
def _is_browser_tool(agent: str) -> bool:
    return _BROWSER_TOOLS.search(agent) is not None


def _is_from_banned_referrer(click: ClickFacts) -> bool:
    host = click.referrer_host
    return host is not None and any(host_names.is_within(host, banned) for banned in click.banned_referrers)


def _is_from_ad(click: ClickFacts) -> bool:
    return not _AD_PARAMETERS.isdisjoint(map(str.lower, click.query_names))


def _is_rapid(click: ClickFacts) -> bool:
    return click.ms_since_last is not None and click.ms_since_last < _MIN_MS_BETWEEN_CLICKS


def _is_own_lead(lead: LeadFacts) -> bool:
    return emails.normalize(lead.email) == emails.normalize(lead.affiliate_email)


def _is_over_daily_cap(lead: LeadFacts) -> bool:
    return lead.daily_cap is not None and lead.leads_today > lead.daily_cap


SELF_LEAD = Rule("self_lead", 100, _is_own_lead, "The affiliate is their own lead; never accepted.")
DAILY_CAP = Rule("daily_cap", 100, _is_over_daily_cap, "More leads today than the campaign takes; never accepted.")

CLICK_RULES: tuple[Rule[ClickFacts], ...] = (
    # Robots' clicks are not counted at all; this judges their leads.
    Rule("bot_agent", 100, lambda click: click.is_bot, "The user agent is a bot's, or missing."),
    Rule("headless", 80, lambda click: _is_browser_tool(click.agent), "The browser is automated."),
    Rule("data_centre", 50, lambda click: click.is_from_data_centre, "The address is a data centre's or anonymizer's."),
    Rule("banned_referrer", 60, _is_from_banned_referrer, "The visit comes from a site that the brand has banned."),
    Rule("paid_ads", 30, _is_from_ad, "The page carries the click id of an advertising network."),
    Rule(
        "burst",
        40,
        lambda click: click.network_clicks > MAX_NETWORK_CLICKS_PER_HOUR,
        "One network clicks on one link more often than people who share an address would.",
    ),
    Rule(
        "device_spread",
        30,
        lambda click: click.device_links > _MAX_DEVICE_LINKS,
        "One device uses many links of the same affiliate.",
    ),
    Rule("rapid", 30, _is_rapid, "One device clicks faster than a person."),
    # Without the operator's file of networks the country is unknown, and this never holds.
    Rule(
        "language_mismatch",
        10,
        lambda click: languages.are_foreign(click.languages, click.country),
        "The browser requests no language that is spoken in the country of its address.",
    ),
)

#: For leads, in addition to the verdict on their click.
LEAD_RULES: tuple[Rule[LeadFacts], ...] = (
    Rule("disposable_domain", 60, lambda lead: lead.is_disposable, "The email address is a throw-away one."),
    # Name servers that did not answer prove nothing.
    Rule("no_mx", 40, lambda lead: lead.has_mx is False, "The domain of the email address takes no mail."),
    SELF_LEAD,
    DAILY_CAP,
)

#: For leads that a visitor's page sends, in addition to the verdict on their click. Together they hold a lead at any
#: strictness; the first never does so alone, for people change networks and browsers between click and form.
PAGE_LEAD_RULES: tuple[Rule[PageLeadFacts], ...] = (
    Rule("no_click", 20, lambda lead: not lead.has_click, "No click on a link of the affiliate in the cookie window."),
    Rule(
        "lead_burst",
        50,
        lambda lead: lead.network_leads > MAX_NETWORK_LEADS_PER_HOUR,
        "One network sends more leads of one affiliate than people who share an address would.",
    ),
)
