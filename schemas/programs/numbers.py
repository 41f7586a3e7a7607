"""A program's numbers in the API.

Source: core spec, "Campaigns (programs)". Every amount is in home-currency minor units, each conversion valued at the
rate of its date. `availableCommissionCents` and `owedEligibleInHomeCents` are the same number; so are
`settlingCommissionCents` and `settlingInHomeCents`. Amounts without a rate are only in the maps by currency.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import fields, validate

from domain import statuses
from schemas.base import MAY_LACK, Instant, Wire, one_of
from schemas.paging import QueryInteger

_DEFAULT_LIMIT = 20
_MAX_EVENTS = 100
_OUTCOMES = ("recorded", "earned", "duplicate", "held", "blocked", "unscored", "over_budget")


def _sums_by_currency(attribute: str) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=fields.Integer(), attribute=attribute, allow_none=True)


class ProgramStats(Wire):
    """Statistics of one program; a program without activity has zeros."""

    program_id = fields.UUID()
    affiliates_count = fields.Integer(attribute="affiliates")
    clicks_30d = fields.Integer(attribute="clicks")
    conversions_30d = fields.Integer(attribute="conversions")
    sales_30d = fields.Integer(attribute="sales")
    leads_30d = fields.Integer(attribute="leads")
    paid_clicks_30d = fields.Integer(attribute="paid_clicks")
    pending_commission_cents = fields.Integer(attribute="pending.home_cents")
    available_commission_cents = fields.Integer(attribute="available.home_cents")
    settling_commission_cents = fields.Integer(attribute="settling.home_cents")
    owed_eligible_in_home_cents = fields.Integer()
    settling_in_home_cents = fields.Integer()
    pending_unconvertible_by_currency = _sums_by_currency("pending.held")
    available_unconvertible_by_currency = _sums_by_currency("available.held")
    settling_unconvertible_by_currency = _sums_by_currency("settling.held")


class TrackingStatus(Wire):
    """Whether tracking was detected, and its numbers of the last 30 days.

    Imported and manual conversions do not count as detected, but are in `totalConversions30d`. `scriptSeenAt` is the
    time of the script's last run on a page of the program, to five minutes; `scriptOrigin` is that page's origin.
    """

    verified = fields.Boolean(attribute="is_verified")
    verified_by = fields.List(one_of(("tag", "click", "conversion")))
    last_click_at = Instant(allow_none=True)
    last_conversion_at = Instant(allow_none=True)
    script_seen_at = Instant(allow_none=True)
    script_origin = fields.String(allow_none=True)
    total_clicks_30d = fields.Integer(attribute="total_clicks")
    total_conversions_30d = fields.Integer(attribute="total_conversions")


class BudgetStatus(Wire):
    """A budget, its spent and its remaining part, in the home currency. `fxUnconvertibleCents` is a signal and not an
    amount; a budget without a rate and its remainder are unknown.
    """

    budget_cents = fields.Integer(allow_none=True)
    budget_unconvertible = fields.Boolean(attribute="is_unconvertible")
    spent_cents = fields.Integer(attribute="spent.home_cents")
    remaining_cents = fields.Integer(allow_none=True)
    unlimited = fields.Boolean(attribute="is_unlimited")
    currency = fields.String()
    fx_unconvertible_by_currency = _sums_by_currency("spent.held")
    fx_unconvertible_cents = fields.Integer(attribute="held_signal")


class RecentEventsQuery(Wire):
    """The number of events, capped at the maximum."""

    limit = QueryInteger(load_default=_DEFAULT_LIMIT, validate=validate.Range(min=1))


def event_limit(query: Mapping[str, Any]) -> int:
    """Return the number of events that a loaded RecentEventsQuery requests."""
    return min(query["limit"], _MAX_EVENTS)


_OF_A_CLICK = ("slug", "is_duplicate", "outcome")
_OF_A_CONVERSION = (
    "amount_cents",
    "currency",
    "commission_cents",
    "status",
    "conversion_type",
    "attribution_method",
    "is_test",
    "locked",
)


class RecentEvent(Wire):
    """A click or a conversion, without the fields of the other kind.

    `outcome` is the click's outcome when it was scored. Later decisions about its conversion do not change it.
    """

    type = one_of(("click", "conversion"))
    id = fields.UUID()
    affiliate_id = fields.UUID()
    occurred_at = Instant()
    sub_id = fields.String(allow_none=True)
    slug = fields.String(metadata=MAY_LACK)
    is_duplicate = fields.Boolean(metadata=MAY_LACK)
    outcome = fields.String(validate=validate.OneOf(_OUTCOMES), metadata=MAY_LACK)
    amount_cents = fields.Integer(metadata=MAY_LACK)
    currency = fields.String(metadata=MAY_LACK)
    commission_cents = fields.Integer(metadata=MAY_LACK)
    status = one_of(statuses.ConversionStatus, metadata=MAY_LACK)
    conversion_type = one_of(statuses.ConversionType, metadata=MAY_LACK)
    attribution_method = fields.String(allow_none=True, metadata=MAY_LACK)
    is_test = fields.Boolean(metadata=MAY_LACK)
    locked = fields.Boolean(attribute="payout_locked", metadata=MAY_LACK)


_CLICK = RecentEvent(exclude=_OF_A_CONVERSION)
_CONVERSION = RecentEvent(exclude=_OF_A_CLICK)


def recent_events(events: Iterable[Any]) -> list[dict[str, Any]]:
    """Return clicks and conversions as the API shows them, each with the fields of its kind."""
    return [(_CLICK if event.type == "click" else _CONVERSION).dump(event) for event in events]
