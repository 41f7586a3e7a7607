"""Refunds of a conversion, what each reversed of which row, and the resulting running totals."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.conversions.conversions import Conversion
from models.db import db
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows, columns

_REFUNDED = """
update conversion set refunded_cents = %(refunded)s, reversed_cents = reversed_cents + %(reversal)s,
  refunded_from = case when %(status)s = 'Refunded' and status <> 'Refunded' then status else refunded_from end,
  status = %(status)s, refunded_at = coalesce(refunded_at, %(at)s), unreported_cents = %(unreported)s
where organization_id = %(org)s and id = %(id)s
"""


def stage_refund_effect(
    *,
    organization_id: UUID,
    conversion_id: UUID,
    refunded_cents: int,
    reversal_cents: int,
    status: str,
    refunded_at: datetime | None,
    unreported_cents: int | None,
) -> None:
    """Stage a refund's effect: the new running totals, the additional reversal, and the resulting status."""
    params = {
        "org": organization_id,
        "id": conversion_id,
        "refunded": refunded_cents,
        "reversal": reversal_cents,
        "status": status,
        "at": refunded_at,
        "unreported": unreported_cents,
    }
    db.stage(_REFUNDED, params)


_RESTORED = """
update conversion set refunded_cents = %s, reversed_cents = reversed_cents - %s, status = %s, refunded_at = null,
  refunded_from = null, restored_at = %s, unreported_cents = %s
where organization_id = %s and id = %s
"""


def stage_restoration_effect(
    *,
    organization_id: UUID,
    conversion_id: UUID,
    refunded_cents: int,
    given_back_cents: int,
    status: str,
    at: datetime,
    unreported_cents: int | None,
) -> None:
    """Stage a restoration's effect: the new running totals, what is no longer reversed, and the status."""
    db.stage(
        _RESTORED, (refunded_cents, given_back_cents, status, at, unreported_cents, organization_id, conversion_id)
    )


_UNREPORTED = "update conversion set unreported_cents = %s where organization_id = %s and id = %s"


def stage_unreported_cents(conversion: Conversion, unreported_cents: int | None) -> None:
    """Stage how much of a locked conversion's refunds its gateway has not reported."""
    db.stage(_UNREPORTED, (unreported_cents, conversion.organization_id, conversion.id))


@dataclass(frozen=True, slots=True)
class Refund:
    """One accepted refund of a parent conversion, with the resulting running total.

    A restoration is refunded money that came back: its amount is negative, and the running total falls.
    `reason` is for example chargeback, None if unknown; `origin` is who booked it, brand or gateway.
    """

    id: UUID
    amount_cents: int
    cumulative_cents: int
    is_full: bool
    created_at: datetime
    origin: str
    reason: str | None = None
    is_restoration: bool = False
    note: str | None = None


# The next place is taken under the conversion's lock; without it the second of two concurrent refunds would fail.
_INSERT_REFUND = PreparedStatement("""
insert into refund (id, organization_id, conversion_id, amount_cents, cumulative_cents, is_full, created_at, reason,
  is_restoration, origin, note, place)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s,
  (select coalesce(max(place), 0) + 1 from refund where organization_id = %s and conversion_id = %s))
""")


def stage_refund(*, organization_id: UUID, conversion_id: UUID, refund: Refund) -> None:
    """Stage the record of an accepted refund."""
    db.stage(
        _INSERT_REFUND,
        (
            refund.id,
            organization_id,
            conversion_id,
            refund.amount_cents,
            refund.cumulative_cents,
            refund.is_full,
            refund.created_at,
            refund.reason,
            refund.is_restoration,
            refund.origin,
            refund.note,
            organization_id,
            conversion_id,
        ),
    )


_INSERT_REVERSAL = PreparedStatement("""
insert into reversal (organization_id, refund_id, conversion_id, commission_cents, created_at)
values (%s, %s, %s, %s, %s)
""")


def stage_reversal(
    *, organization_id: UUID, refund_id: UUID, conversion_id: UUID, commission_cents: int, at: datetime
) -> None:
    """Stage what a refund reversed of one row (negative: restored); the key rejects a second time."""
    db.stage(_INSERT_REVERSAL, (organization_id, refund_id, conversion_id, commission_cents, at))


_ROWS = Rows(Refund)
_NOT_CASCADED = f"""
select {columns(Refund, "r")} from refund r
where r.organization_id = %s and r.conversion_id = %s
  and not exists (
    select from reversal v
    where v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = %s)
order by r.place
"""


def list_not_cascaded(*, organization_id: UUID, parent_id: UUID, override_id: UUID) -> list[Refund]:
    """Return the parent's refunds that have not reached its override yet, in order of acceptance."""
    return _ROWS.all(_NOT_CASCADED, (organization_id, parent_id, override_id))


@dataclass(frozen=True, slots=True)
class OwnRefund:
    """The last refund of an override alone, not with its sale; `is_full` is False once it was undone."""

    id: UUID
    is_full: bool


_OWN_ROWS = Rows(OwnRefund)
_OWN = FreshSelect(f"""
select {columns(OwnRefund)} from refund where organization_id = %s and conversion_id = %s order by place desc limit 1
""")


def find_own(conversion: Conversion) -> OwnRefund | None:
    """Return the last refund of a locked override alone; None without such a refund, and for any other row.

    Budget: none for a row that was never refunded or is no override; else 1 statement.
    """
    if conversion.parent_id is None or (conversion.refunded_at is None and conversion.restored_at is None):
        return None
    return _OWN_ROWS.first(_OWN, (conversion.organization_id, conversion.id))
