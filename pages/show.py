"""How values look: money by our own exponents, numbers, times, days, and the colour of each state.

Every page shows them through these filters. What is not there is a dash, and a negative amount has a minus sign, not a
hyphen. Times are shown in the zone of the page (`pages.times.zone`), and say which it is.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from api import current_time
from domain.money import wording
from domain.money.wording import DASH, MINUS
from domain.organization import time_zones
from domain.programs import terms_text
from domain.programs.terms_text import DescribedTerms
from pages import tables
from pages.times import zone

_VERSION_DIGITS = 16
_PASSING = re.compile(r"<span data-age>.*?</span>|<input type=\"hidden\" name=\"_key\"[^>]*>", re.DOTALL)
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STATES = {
    "ok": "Accepted Active Answered Approved Completed Confirmed Connected Converted Credited Delivered Done Funded"
    " Payable Processed Released Resolved Seen Sent Settled Verified",
    "wait": "Asking Draft Held Late Minting Offered Open PastDue Parked Pending Proposed Queued Submitted Trialing"
    " Waiting",
    "run": "OnItsWay Paused Processing Received Retrying Running Thinking Working",
    "bad": "Banned Broken Contradicts Dead Disputed Failed Failing Lost Suspended Taken",
    "off": "Archived Canceled Cancelled Declined Denied Disabled Disconnected Dismissed Empty Expired Ignored"
    " Inactive Invalidated Kept NotPayable Noted Refunded Rejected Replaced Revoked Undone Unset Voided",
    "test": "Sandbox Test",
}
#: A state as the API spells it, and the colour that it has.
COLOURS: Mapping[str, str] = MappingProxyType(
    {state: colour for colour, states in _STATES.items() for state in states.split()} | {"Paid": "ok tick"}
)


def amount(value: Mapping[str, int] | None) -> str:
    """Return minor units by currency as `1.00 EUR + 2.00 USD`."""
    return (
        " + ".join(wording.format_money(minor, currency) for currency, minor in sorted((value or {}).items())) or DASH
    )


def rate(value: Decimal | float | None, type: str, currency: str | None = None) -> str:
    """Return a commission value as every wording of terms says it."""
    return DASH if value is None else terms_text.format_rate(type, value, currency)


def terms(program: Mapping[str, Any]) -> str:
    """Return what a program as the API shows it pays, in sentences; of tiers its own page tells more."""
    return terms_text.describe(
        DescribedTerms(
            model=program["defaultCommissionModel"],
            rate_type=program["defaultCommissionType"],
            rate_value=program["defaultCommissionValue"],
            rate_currency=program["feeCurrency"],
            sale_commission_type=program["saleCommissionType"],
            sale_commission_value=program["saleCommissionValue"],
            lead_bounty_cents=program["leadBountyCents"],
            lead_bounty_currency=program["leadBountyCurrency"],
            click_reward_cents=program["clickRewardCents"],
            click_reward_currency=program["clickRewardCurrency"],
            has_tiers=False,
            recurring_months=program["recurringMonths"],
            recurring_delay_invoices=program["recurringDelayInvoices"],
        )
    )


def number(value: int | None) -> str:
    """Return a count with its thousands apart."""
    if value is None:
        return DASH
    return f"{MINUS if value < 0 else ''}{abs(value):,}"


def moment(value: datetime | str | None) -> str:
    """Return an instant as a `time` element that a person can read, its zone named."""
    if value is None:
        return DASH
    at = _local(value)
    machine = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{}">{}</time>').format(machine, _with_zone(at))


def day(value: date | str | None) -> str:
    """Return a day, or the day of an instant with the instant and its zone in a title, as a `time` element."""
    if value is None:
        return DASH
    shown = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(shown, datetime) or shown.tzinfo is None:
        return _day(shown)
    at = _local(shown)
    return Markup('<span title="{}">{}</span>').format(_with_zone(at), _day(at))


def ago(value: datetime | str | None) -> str:
    """Return how long ago an instant was, the instant itself in its title."""
    if value is None:
        return DASH
    at = _local(value)
    past_s = max(0, int((current_time.now() - at).total_seconds()))
    count, unit = next(((past_s // length, unit) for length, unit in _UNITS if past_s >= length), (past_s, "s"))
    return Markup(
        '<span data-age><time datetime="{0:%Y-%m-%dT%H:%M:%SZ}" title="{1:%Y-%m-%d %H:%M:%S} {2}">{3} {4}</time></span>'
    ).format(at.astimezone(UTC), at, _zone_of(at), count, unit)


def duration(seconds: int | None) -> str:
    """Return so many seconds as a person says them: `40 s`, `3 min`, `2 h`, `5 d`; nothing for none."""
    if not seconds:
        return DASH
    count, unit = next(((seconds // length, unit) for length, unit in _UNITS if seconds >= length), (seconds, "s"))
    return f"{count} {unit}"


def version(shown: str) -> str:
    """Return what tells one state of a live part from another; ages and the keys of forms do not count."""
    return hashlib.sha256(_PASSING.sub("", shown).encode()).hexdigest()[:_VERSION_DIGITS]


def order(external_event_id: str) -> str:
    """Return the order that a conversion is about: a recruiter's share has the id of its sale, and more behind it."""
    return external_event_id.partition(":override:")[0]


def colour(state: str) -> str:
    """Return the colour of a state; one that nobody named is grey."""
    return COLOURS.get(state, "off")


def words(value: datetime | str) -> str:
    """Return an instant as words alone, for a title: `22 Nov 2026, 15:02 Europe/Berlin`."""
    return _with_zone(_local(value))


def _local(value: datetime | str) -> datetime:
    """Return an instant in the zone of the page."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at.astimezone(zone.current())


def _with_zone(at: datetime) -> str:
    return f"{_in_words(at)}, {at:%H:%M} {_zone_of(at)}"


def _zone_of(at: datetime) -> str:
    """Return the name of a local time's zone, with the offset where the clock shows that time twice."""
    offset = f"{at:%z}"
    return f"{at.tzinfo} (UTC{offset[:3]}:{offset[3:5]})" if time_zones.is_repeated(at) else str(at.tzinfo)


def _day(on: date) -> Markup:
    return Markup('<time datetime="{:%Y-%m-%d}">{}</time>').format(on, _in_words(on))


def _in_words(at: date) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


#: What templates know these by.
FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **{
            said.__name__: said
            for said in (wording.format_money, wording.format_major, wording.format_percent, wording.format_plain)
        },
        "amount": amount,
        "number": number,
        **{shown.__name__: shown for shown in (moment, day, ago, duration, words, order, version)},
        "rate": rate,
        "terms": terms,
        "colour": colour,
        "folded": tables.folded,
    }
)
