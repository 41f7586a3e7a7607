"""Changes of commissions: the record of those by a person, and their effects on a conversion and its refunds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import FreshSelect
from models.table import columns, placeholders, row_values


@dataclass(frozen=True, slots=True)
class CommissionChange:
    """The effect of a change on one row, the conversion or its override; both have the id of the change.

    The commissions are before refunds, in minor units of the conversion's currency.
    """

    organization_id: UUID
    id: UUID
    conversion_id: UUID
    previous_cents: int
    commission_cents: int
    reason: str
    note: str | None
    created_at: datetime


_INSERT_CHANGE = (
    f"insert into commission_change ({columns(CommissionChange)}) values ({placeholders(CommissionChange)})"
)


def stage_change(change: CommissionChange) -> None:
    """Stage the record of a change."""
    db.stage(_INSERT_CHANGE, row_values(change))


_COMMISSION = """
update conversion set commission_cents = %s, reversed_cents = reversed_cents + %s, status = %s
where organization_id = %s and id = %s
"""


def stage_commission(
    *, organization_id: UUID, conversion_id: UUID, commission_cents: int, reversal_cents: int, status: str
) -> None:
    """Stage a new commission of a locked conversion, the additional reversal, and the resulting status."""
    db.stage(_COMMISSION, (commission_cents, reversal_cents, status, organization_id, conversion_id))


# An earlier refund reverses another share of the new commission, like a refund that arrived while the row earned
# nothing does once it earns again.
_REVERSALS = """
update reversal v set late_cents = v.late_cents + changed.cents
from unnest(%s::uuid[], %s::bigint[]) as changed (refund_id, cents)
where v.organization_id = %s and v.conversion_id = %s and v.refund_id = changed.refund_id
"""


def stage_reversals(*, organization_id: UUID, conversion_id: UUID, changes: Sequence[tuple[UUID, int]]) -> None:
    """Stage how much more (negative: less) refunds reverse of one row."""
    if changes:
        refund_ids, cents = zip(*changes, strict=True)
        db.stage(_REVERSALS, (list(refund_ids), list(cents), organization_id, conversion_id))


_IN_PAYOUT = FreshSelect("""
select from payout_line where organization_id = %s and conversion_id = %s and released_at is null limit 1
""")


def is_in_payout(*, organization_id: UUID, conversion_id: UUID) -> bool:
    """Return whether a payout that was not voided contains a locked conversion."""
    return bool(db.run(_IN_PAYOUT, (organization_id, conversion_id)))
