"""The facts about a click or a lead that the rules score, all looked up beforehand, and the verdict.

Clicks are scored by the thousand, so each is a light tuple.
"""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score from 0 (no suspicion) to 100, and the names of the rules that it comes from."""

    score: int
    reasons: tuple[str, ...]


class ClickFacts(NamedTuple):
    """A click. An unknown fact has its default, which raises no suspicion.

    Hosts are lower case without a port. `query_names` are the parameters of the landing page. The counts include the
    click itself: `network_clicks` those on its link within an hour from its IPv4 /24 or IPv6 /48, `device_links` the
    affiliate's links that its device used. `ms_since_last` is since the device's previous click. `languages` are the
    tags that the browser requests, `country` an ISO 3166 code of two letters.
    """

    agent: str = ""
    is_bot: bool = False
    is_from_data_centre: bool = False
    referrer_host: str | None = None
    banned_referrers: frozenset[str] = frozenset()
    query_names: frozenset[str] = frozenset()
    network_clicks: int = 1
    device_links: int = 1
    ms_since_last: int | None = None
    languages: tuple[str, ...] = ()
    country: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadFacts:
    """A lead. `click` is the verdict on the click that brought it; `has_mx` is None if the name servers did not answer.

    `leads_today` counts the affiliate's leads of the day in the campaign, this one included; `daily_cap` None: no cap.
    """

    email: str
    affiliate_email: str
    is_disposable: bool = False
    has_mx: bool | None = None
    leads_today: int = 1
    daily_cap: int | None = None
    click: Verdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLeadFacts:
    """A lead that a visitor's page sends. `click` is the verdict on the visitor's last click, None without a verdict.

    `network_leads` counts the affiliate's leads from the same IPv4 /24 or IPv6 /48 within an hour, this one included.
    """

    has_click: bool
    network_leads: int = 1
    click: Verdict | None = None
