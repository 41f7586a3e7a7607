"""Conversions and their history. Money is minor units of the row's currency.

Their lists are in `lists`, their refunds in `refunds`, their revenue by day in `revenue`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from domain.statuses import ConversionStatus
from models.db import db
from models.ids import new_id
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns, rows_as_json


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion row. Times are aware UTC; `commission_cents` is the commission before any reversal.

    `attribution_log` is as `domain.attribution.log` writes it, None if the rest of the row contains the same.
    `refunded_from` is the status before a full refund, `restored_at` when refunded money last came back;
    `unreported_cents` is what the brand refunded and its gateway has not reported, None for nothing.
    `email_normalized` is the buyer's email of an imported or manual sale; other sales store it elsewhere.
    `self_referral`: its buyer is the affiliate. `needs_approval`: while Pending it enters no payout until a Manager
    approves it.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    source: str
    external_event_id: str
    amount_cents: int
    currency: str
    commission_cents: int
    status: str
    type: str
    rate_source: str
    rate_type: str | None
    rate_value: Decimal | None
    is_test: bool
    occurred_at: datetime
    hold_until: datetime
    created_at: datetime
    payability: str = "payable"
    attribution_method: str | None = None
    coupon_code: str | None = None
    affiliate_coupon_id: UUID | None = None
    sub_id: str | None = None
    processor_customer_id: str | None = None
    processor_subscription_id: str | None = None
    customer_name: str | None = None
    customer_email: str | None = None
    customer_avatar_url: str | None = None
    attribution_log: list[str] | None = None
    parent_id: UUID | None = None
    payout_locked: bool = False
    refunded_cents: int = 0
    reversed_cents: int = 0
    refunded_at: datetime | None = None
    paid_cents: int = 0
    disputed_at: datetime | None = None
    refunded_from: str | None = None
    restored_at: datetime | None = None
    email_normalized: str | None = None
    unreported_cents: int | None = None
    self_referral: bool = False
    needs_approval: bool = False

    @property
    def is_disputed(self) -> bool:
        """Whether the buyer disputes the payment at their bank."""
        return self.disputed_at is not None

    @property
    def net_commission_cents(self) -> int:
        """The commission less reversals."""
        return self.commission_cents - self.reversed_cents

    @property
    def awaits_approval(self) -> bool:
        """Whether it cannot enter a payout before a Manager approves it."""
        return self.needs_approval and self.status == ConversionStatus.Pending

    @property
    def payable_at(self) -> datetime | None:
        """The earliest time at which it is payable; None for locked history and while it awaits an approval."""
        return None if self.payout_locked or self.awaits_approval else self.hold_until


_ROWS = Rows(Conversion)
_COLUMNS = columns(Conversion)
_INSERT_ALL = f"""
insert into conversion ({_COLUMNS}) select {_COLUMNS} from json_populate_recordset(null::conversion, %s)
"""
_STAGE_INSERT = PreparedStatement(_INSERT_ALL)
_INSERT_UNLESS_KNOWN = PreparedStatement(f"""{_INSERT_ALL}
on conflict (organization_id, source, external_event_id) do nothing returning id
""")


def stage_insert(conversions: Sequence[Conversion]) -> None:
    """Stage conversion rows: one statement for all."""
    db.stage(_STAGE_INSERT, (rows_as_json(conversions),))


def insert_new(conversions: Sequence[Conversion]) -> set[UUID]:
    """Insert conversions now, except those whose source already has their external event id; return the new ids."""
    return {id for (id,) in db.run(_INSERT_UNLESS_KNOWN, (rows_as_json(conversions),))}


_ADD_LINES = PreparedStatement("""
insert into conversion_event
  (id, organization_id, conversion_id, event_type, amount_cents, commission_cents, occurred_at)
select id, organization_id, conversion_id, event_type, amount_cents, commission_cents, occurred_at
from json_populate_recordset(null::conversion_event, %s)
""")


@dataclass(frozen=True, slots=True)
class NewHistoryLine:
    """A new line of a conversion's history (`initial`, `renewal`, `refund`)."""

    organization_id: UUID
    conversion_id: UUID
    event_type: str
    amount_cents: int
    commission_cents: int
    occurred_at: datetime
    id: UUID = field(default_factory=new_id)


def stage_history(lines: Sequence[NewHistoryLine]) -> None:
    """Stage lines of conversions' histories: one statement for all."""
    db.stage(_ADD_LINES, (rows_as_json(lines),))


_FIND = Lookup(f"""
select {_COLUMNS} from conversion where organization_id = %s and id = %s
""")
_LOCK = Lookup(f"""
select {_COLUMNS} from conversion where organization_id = %s and id = %s for update
""")
_LOCK_OVERRIDE = f"""
select {_COLUMNS} from conversion where organization_id = %s and parent_id = %s for update
"""


def find(*, organization_id: UUID, conversion_id: UUID) -> Conversion | None:
    """Return one conversion of the organization, or None."""
    return _ROWS.first(_FIND, (organization_id, conversion_id))


_LOCK_ALL = Lookup(f"""
select {_COLUMNS} from conversion where organization_id = %s and id = any(%s) order by id for update
""")


def lock_all(*, organization_id: UUID, conversion_ids: Collection[UUID]) -> dict[UUID, Conversion]:
    """Return conversions by their ids, locked in that order until the transaction ends."""
    return {conversion.id: conversion for conversion in _ROWS.all(_LOCK_ALL, (organization_id, list(conversion_ids)))}


def lock(*, organization_id: UUID, conversion_id: UUID) -> Conversion | None:
    """Return one conversion, locked until the transaction ends."""
    return _ROWS.first(_LOCK, (organization_id, conversion_id))


def lock_override(*, organization_id: UUID, parent_id: UUID) -> Conversion | None:
    """Return the override row of a parent, locked. Lock the parent first."""
    return _ROWS.first(_LOCK_OVERRIDE, (organization_id, parent_id))


_STAGE_DISPUTED = "update conversion set disputed_at = %s where organization_id = %s and id = %s"


def stage_dispute(conversion: Conversion, *, at: datetime | None) -> None:
    """Stage since when a locked conversion is disputed; None: it is not, or no longer."""
    db.stage(_STAGE_DISPUTED, (at, conversion.organization_id, conversion.id))


@dataclass(frozen=True, slots=True)
class Dependents:
    """Whether a conversion has an override row, and whether any payout ever contained the conversion."""

    has_override: bool
    is_in_payout: bool


_DEPENDENT_ROWS = Rows(Dependents)
_DEPENDENTS = """
select exists (select from conversion where organization_id = %(org)s and parent_id = %(id)s),
  exists (select from payout_line where organization_id = %(org)s and conversion_id = %(id)s)
"""


def find_dependents(*, organization_id: UUID, conversion_id: UUID) -> Dependents:
    """Return what depends on a conversion. Only final under the conversion's lock."""
    dependents = _DEPENDENT_ROWS.first(_DEPENDENTS, {"org": organization_id, "id": conversion_id})
    assert dependents is not None
    return dependents


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One line of a conversion's history. `reason` and `note` are those of the refund or the change of commission.

    `origin` is who booked the refund, brand or gateway; None for every other line.
    """

    id: UUID
    event_type: str
    amount_cents: int
    commission_cents: int
    occurred_at: datetime
    reason: str | None
    note: str | None
    origin: str | None


_LINES = Rows(HistoryLine)
# The line of a refund or of a commission change has the id of that refund or change.
_WHY = {"reason": "coalesce(r.reason, m.reason)", "note": "coalesce(r.note, m.note)", "origin": "r.origin"}
_HISTORY = f"""
select {columns(HistoryLine, "e", **_WHY)} from conversion_event e
left join refund r on r.organization_id = e.organization_id and r.id = e.id
left join commission_change m
  on m.organization_id = e.organization_id and m.id = e.id and m.conversion_id = e.conversion_id
where e.organization_id = %s and e.conversion_id = %s order by e.occurred_at, e.id
"""


def list_history(*, organization_id: UUID, conversion_id: UUID) -> list[HistoryLine]:
    """Return a conversion's history, oldest first."""
    return _LINES.all(_HISTORY, (organization_id, conversion_id))


# Ordered by id, a conversion comes before its override, as everywhere.
_RENEW_HOLDS = """
with pending as (
  select id from conversion where organization_id = %(org)s and status = 'Pending' and id > %(after)s
  order by id limit %(limit)s for no key update
), renewed as (
  update conversion c set hold_until = c.occurred_at + make_interval(days => o.payout_grace_days)
  from pending, organization o
  where c.organization_id = %(org)s and c.id = pending.id and o.id = c.organization_id
)
select id from pending order by id desc
"""


def renew_holds(*, organization_id: UUID, after: UUID, limit: int) -> UUID | None:
    """Recompute the hold of the next Pending conversions from the organization's current grace days.

    Processes up to `limit` of them, by id, after an id; returns the last one's id, None when there were fewer.
    """
    rows = db.run(_RENEW_HOLDS, {"org": organization_id, "after": after, "limit": limit})
    return rows[0][0] if len(rows) == limit else None
