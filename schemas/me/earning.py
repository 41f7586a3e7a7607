"""The earnings of the signed-in affiliate in the API, without data of buyers and of test keys."""

from collections.abc import Iterable
from dataclasses import fields as names_of
from datetime import datetime
from typing import Any

from marshmallow import fields, post_load

from domain import statuses
from domain.conversions import earnings
from domain.conversions.earnings import EarningFacts, EarningState
from schemas.base import Instant, Wire, one_of
from schemas.paging import PageQuery


class _EarningFilters(Wire):
    """The filters of the list. Loads to `filters`, with the names of `models.conversions.earnings`."""

    program_id = fields.UUID(load_default=None)
    status = one_of(statuses.ConversionStatus, load_default=None)
    since = Instant(load_default=None)
    until = Instant(load_default=None)

    @post_load
    def _settle(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        paging = {name: query.pop(name) for name in ("take", "cursor") if name in query}
        return paging | {"filters": query}


class OwnConversionsQuery(_EarningFilters, PageQuery):
    """The list's filters. Loads to `take`, `cursor` and `filters`."""


class OwnExportQuery(_EarningFilters):
    """The export's filters. Loads to `filters`."""


class OwnConversionRecord(Wire):
    """A conversion that credits the affiliate; `state` is the state of its money, `why` explains it in sentences.

    It can be in a payout from `payableAt` on; null where it never can, during a dispute, and until a required approval
    of the brand.
    """

    id = fields.UUID()
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    program_name = fields.String()
    organization_name = fields.String()
    type = one_of(statuses.ConversionType)
    amount_cents = fields.Integer()
    currency = fields.String()
    commission_cents = fields.Integer(attribute="net_commission_cents")
    original_commission_cents = fields.Integer(attribute="commission_cents")
    commission_reversed_cents = fields.Integer(attribute="reversed_cents")
    refunded_amount_cents = fields.Integer(attribute="refunded_cents")
    paid_cents = fields.Integer()
    status = one_of(statuses.ConversionStatus)
    state = one_of(EarningState)
    self_referral = fields.Boolean()
    locked = fields.Boolean(attribute="payout_locked")
    payable_at = Instant(allow_none=True)
    coupon_code = fields.String(allow_none=True)
    sub_id = fields.String(allow_none=True)
    occurred_at = Instant()
    created_at = Instant()
    refunded_at = Instant(allow_none=True)
    why = fields.List(fields.String())


_RECORD = OwnConversionRecord(exclude=("state", "payable_at", "why", "commission_cents"))
_FACTS = tuple(field.name for field in names_of(EarningFacts) if field.name != "is_disputed")


def own_conversion_records(rows: Iterable[Any], *, now: datetime) -> list[dict[str, Any]]:
    """Return conversions as their affiliate sees them at time `now`. Rows are `models.conversions.earnings.Earning`."""
    return [_to_record(row, now) for row in rows]


def _to_record(row: Any, now: datetime) -> dict[str, Any]:
    facts = EarningFacts(is_disputed=row.disputed_at is not None, **{name: getattr(row, name) for name in _FACTS})
    state = earnings.state(facts, now=now)
    payable_at = earnings.payable_at(facts, state)
    record: dict[str, Any] = _RECORD.dump(row)
    return record | {
        "commissionCents": row.commission_cents - row.reversed_cents,
        "state": state.value,
        "payableAt": Instant.render(payable_at) if payable_at else None,
        "why": earnings.explain(facts, state),
    }
