"""Filters of the templates: money by our own exponents, numbers, times, days, colours of states, folding tables.

A missing value is a dash, and a negative amount has a minus sign, not a hyphen. Times are shown in the zone of the page
(`pages.times.zone`), with its name.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time
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
from pages import charts
from pages.times import day_words, zone

_VERSION_DIGITS = 16
_UNVERSIONED = re.compile(r"<span data-age>.*?</span>|<input type=\"hidden\" name=\"_key\"[^>]*>", re.DOTALL)
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_STATES_BY_COLOUR = {
    "ok": "Accepted Active Answered Approved Completed Confirmed Connected Converted Credited Delivered Done Funded"
    " Payable Processed Released Resolved Seen Sent Settled Verified",
    "wait": "Asking Draft Held Late Minting Offered Open PastDue Parked Pending Proposed Queued Submitted Trialing"
    " Reading Ready Waiting",
    "run": "OnItsWay Paused Processing Received Retrying Running Thinking Undoing Working Writing",
    "bad": "Banned Broken Contradicts Dead Disputed Failed Failing Lost Suspended Taken",
    "off": "Archived Canceled Cancelled Declined Denied Disabled Disconnected Dismissed Empty Expired Ignored"
    " Inactive Invalidated Kept NotPayable Noted Refunded Rejected Replaced Revoked Undone Unset Voided",
    "test": "Sandbox Test",
}
# Words for states whose code says too little to people.
_STATE_WORDS = {
    "Asking": "Needs confirmation",
    "Cancelled": "Canceled",
    "Contradicts": "Contradiction",
    "Empty": "Nothing due",
    "Minting": "Creating",
    "Noted": "Recorded",
    "Parked": "On hold",
    "Taken": "In use elsewhere",
    "Unset": "Not set up",
}
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Tables fold where there is no room for columns: each row becomes two lines.
_HEAD = re.compile(r"<thead.*?</thead>", re.DOTALL)
_HEAD_CELL = re.compile(r"<th\b([^>]*)>(.*?)</th>", re.DOTALL)
# A head for screen readers; without the columns the value itself shows what it is.
_SCREEN_READER_TEXT = re.compile(r'<span class="unseen">.*?</span>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_OPENING_TAG = re.compile(r"<(thead|tbody|tfoot|tr|th|td)\b([^>]*)>")
_IS_NUMBER = re.compile(r'class="(?:[^"]* )?num[ "]')
_IS_MONEY = re.compile(r"[0-9][\u00a0 ][A-Z]{3}\b")
_SPAN = re.compile(r'colspan="(\d+)"')
_ROLES = {"thead": "rowgroup", "tbody": "rowgroup", "tfoot": "rowgroup", "tr": "row", "td": "cell", "th": "rowheader"}
#: The colour of each state, by the state as the API spells it.
COLOURS: Mapping[str, str] = MappingProxyType(
    {state: colour for colour, states in _STATES_BY_COLOUR.items() for state in states.split()} | {"Paid": "ok tick"}
)


def format_amounts(value: Mapping[str, int] | None) -> str:
    """Return minor units by currency as `1.00 EUR + 2.00 USD`."""
    return (
        " + ".join(wording.format_money(minor, currency) for currency, minor in sorted((value or {}).items())) or DASH
    )


def format_rate(value: Decimal | float | None, type: str, currency: str | None = None) -> str:
    """Return a commission value in the words that all descriptions of terms use."""
    return DASH if value is None else terms_text.format_rate(type, value, currency)


def describe_terms(program: Mapping[str, Any]) -> str:
    """Return the terms of a program as the API shows it, in sentences; its tiers are on its own page."""
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


def format_number(value: int | None) -> str:
    """Return a count with its thousands separated."""
    if value is None:
        return DASH
    return f"{MINUS if value < 0 else ''}{abs(value):,}"


def format_time(value: datetime | str | None) -> str:
    """Return an instant as a `time` element in words, with the name of its zone."""
    if value is None:
        return DASH
    at = _to_page_zone(value)
    machine = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{}">{}</time>').format(machine, _with_zone(at))


def format_day(value: date | str | None) -> str:
    """Return a day, or the day of an instant with the instant and its zone in a title, as a `time` element."""
    if value is None:
        return DASH
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(parsed, datetime) or parsed.tzinfo is None:
        return _day_element(parsed)
    at = _to_page_zone(parsed)
    return Markup('<span title="{}">{}</span>').format(_with_zone(at), _day_element(at))


def format_age(value: datetime | str | None) -> str:
    """Return the time since an instant, with the instant itself in its title."""
    if value is None:
        return DASH
    at = _to_page_zone(value)
    past_s = max(0, int((current_time.now() - at).total_seconds()))
    count, unit = next(((past_s // length, unit) for length, unit in _UNITS if past_s >= length), (past_s, "s"))
    return Markup(
        '<span data-age><time datetime="{0:%Y-%m-%dT%H:%M:%SZ}" title="{1:%Y-%m-%d %H:%M:%S} {2}">{3} {4}</time></span>'
    ).format(at.astimezone(UTC), at, _zone_name(at), count, unit)


def format_duration(seconds: int | None) -> str:
    """Return seconds in the largest whole unit: `40 s`, `3 min`, `2 h`, `5 d`; a dash for none."""
    if not seconds:
        return DASH
    count, unit = next(((seconds // length, unit) for length, unit in _UNITS if seconds >= length), (seconds, "s"))
    return f"{count} {unit}"


def content_version(html: str) -> str:
    """Return the hash of a live part's content; ages and the keys of forms do not count."""
    return hashlib.sha256(_UNVERSIONED.sub("", html).encode()).hexdigest()[:_VERSION_DIGITS]


def order_id(external_event_id: str) -> str:
    """Return the order id of a conversion: a recruiter's share has the id of its sale with a suffix.

    One that a switch brought has its id in the former system after the names of both.
    """
    order = external_event_id.partition(":override:")[0]
    return order.split(":", 2)[-1] if order.startswith("switch:") else order


def state_colour(state: str) -> str:
    """Return the colour of a state; an unknown one is grey."""
    return COLOURS.get(state, "off")


def state_words(state: str) -> str:
    """Return a state of the API in words for people: `PastDue` is `Past due`."""
    return _STATE_WORDS.get(state) or _WORD_START.sub(" ", state).capitalize()


def event_words(code: str) -> str:
    """Return an action of the audit log in words: `api_key.created` is `API key created`."""
    return re.sub(r"^Api\b", "API", re.sub(r"[._]+", " ", code).capitalize())


def describe_start_of_utc_day(day: date) -> str | None:
    """Return the time in the zone of the page at which a day in UTC starts, with the zone; None in UTC itself."""
    at = datetime.combine(day, time(), UTC).astimezone(zone.current_zone())
    return f"{at:%H:%M} {_zone_name(at)}" if at.utcoffset() else None


def describe_time(value: datetime | str) -> str:
    """Return an instant in words without markup, for a title: `22 Nov 2026, 15:02 Europe/Berlin`."""
    return _with_zone(_to_page_zone(value))


def _to_page_zone(value: datetime | str) -> datetime:
    """Return an instant in the zone of the page."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at.astimezone(zone.current_zone())


def _with_zone(at: datetime) -> str:
    return f"{day_words.describe_day(at)}, {at:%H:%M} {_zone_name(at)}"


def _zone_name(at: datetime) -> str:
    """Return the name of a local time's zone, with the offset where the clock shows that time twice."""
    offset = f"{at:%z}"
    return f"{at.tzinfo} (UTC{offset[:3]}:{offset[3:5]})" if time_zones.is_repeated(at) else str(at.tzinfo)


def _day_element(on: date) -> Markup:
    return Markup('<time datetime="{:%Y-%m-%d}">{}</time>').format(on, day_words.describe_day(on))


def fold_table(inside: str) -> Markup:
    """Return the inside of a table, its cells with roles and with the heads of their columns as labels.

    The first number of each row is marked as the main one, unless a cell has `data-main` already; one that is no money
    is marked as a count, which needs its label.
    The roles are for browsers that forget them where a table is not laid out as one. The markup after the head is the
    body where it has no `tbody`. Nested tables are not handled.
    """
    head = _HEAD.search(inside)
    names_main = " data-main" in inside
    if head and "<tbody" not in inside:
        inside = f"{inside[: head.end()]}\n<tbody>{inside[head.end() :]}</tbody>"
    heads = list(_column_heads(head[0])) if head else []
    end_of_head = head.end() if head else 0
    column, has_main = 0, names_main

    def annotate(tag: re.Match[str]) -> str:
        nonlocal column, has_main
        name, attributes = tag[1], tag[2]
        if tag.start() < end_of_head and name == "th":
            return f'<th{attributes} role="columnheader">'
        if name not in ("td", "th"):
            column, has_main = 0, names_main
            return f'<{name}{attributes} role="{_ROLES[name]}">'
        span = _column_span(attributes)
        label = heads[column] if span == 1 and name == "td" and column < len(heads) else ""
        column += span
        is_main = not has_main and name == "td" and _IS_NUMBER.search(attributes) is not None
        has_main = has_main or is_main
        is_count = (is_main or " data-main" in attributes) and not _IS_MONEY.search(_read_cell(inside, tag.end()))
        main = f"{' data-main' if is_main else ''}{' data-count' if is_count else ''}"
        marks = f"{main}{f' data-l={_quote(label)}' if label else ''}"
        return f'<{name}{attributes} role="{_ROLES[name]}"{marks}>'

    return Markup(_OPENING_TAG.sub(annotate, inside))  # noqa: S704  # escaped text stays escaped


def _read_cell(inside: str, start: int) -> str:
    """Return the markup of the cell whose content begins at `start`."""
    return inside[start : inside.find("</td>", start)]


def _column_heads(head: str) -> Iterator[str]:
    """Yield the text of each column's head, escaped as it is in the markup."""
    for attributes, text in _HEAD_CELL.findall(head):
        yield from [" ".join(_TAG.sub("", _SCREEN_READER_TEXT.sub("", text)).split())] * _column_span(attributes)


def _column_span(attributes: str) -> int:
    span = _SPAN.search(attributes)
    return int(span[1]) if span else 1


def _quote(text: str) -> str:
    return '"' + text.replace('"', "&#34;") + '"'


#: Filters by their names in templates.
FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "money": wording.format_money,
        "major": wording.format_major,
        "percent": wording.format_percent,
        "plain": wording.format_plain,
        "amount": format_amounts,
        "number": format_number,
        "moment": format_time,
        "day": format_day,
        "ago": format_age,
        "duration": format_duration,
        "words": describe_time,
        "order": order_id,
        "utc_start": describe_start_of_utc_day,
        "version": content_version,
        "rate": format_rate,
        "terms": describe_terms,
        "colour": state_colour,
        "state": state_words,
        "event": event_words,
        "folded": fold_table,
        "ticks": charts.list_ticks,
    }
)
