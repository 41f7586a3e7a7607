"""Effects of a review on a conversion: its status, and late reversals by refunds."""

from datetime import datetime
from uuid import UUID

from domain.conversions.review import AppliedRefund
from models.db import db
from models.table import Rows

_STATUS = """
update conversion set status = %(status)s, needs_approval = needs_approval and %(status)s <> 'Approved'
where organization_id = %(org)s and id = %(id)s
"""


def stage_status(*, organization_id: UUID, conversion_id: UUID, status: str) -> None:
    """Stage another status of a conversion locked in this transaction; Approved also clears `needs_approval`."""
    db.stage(_STATUS, {"status": status, "org": organization_id, "id": conversion_id})


_APPROVAL_GIVEN = "update conversion set needs_approval = false where organization_id = %s and id = %s"


def stage_approval(*, organization_id: UUID, conversion_id: UUID) -> None:
    """Stage that a locked conversion no longer needs an approval; its status and hold stay."""
    db.stage(_APPROVAL_GIVEN, (organization_id, conversion_id))


_VALIDATED = """
update conversion c set status = %s, reversed_cents = reversed_cents + %s,
  hold_until = c.occurred_at + make_interval(days => o.payout_grace_days)
from organization o
where c.organization_id = %s and c.id = %s and o.id = c.organization_id
"""


def stage_validation(*, organization_id: UUID, conversion_id: UUID, status: str, late_cents: int) -> None:
    """Stage that a conversion earns again, less late reversals by refunds; its hold counts from when it occurred."""
    db.stage(_VALIDATED, (status, late_cents, organization_id, conversion_id))


_LATE_REVERSAL = """
update reversal set late_cents = late_cents + %s where organization_id = %s and refund_id = %s and conversion_id = %s
"""


def stage_late_reversal(*, organization_id: UUID, refund_id: UUID, conversion_id: UUID, cents: int) -> None:
    """Stage what a refund reverses of a row that earned nothing when the refund arrived."""
    db.stage(_LATE_REVERSAL, (cents, organization_id, refund_id, conversion_id))


_REACHED_ROWS = Rows(AppliedRefund)
_REACHED = """
select r.id, r.cumulative_cents, r.is_full, r.is_restoration, v.commission_cents + v.late_cents from refund r
join reversal v on v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = %s
where r.organization_id = %s and r.conversion_id = %s order by r.place
"""


def list_applied_refunds(*, organization_id: UUID, parent_id: UUID, conversion_id: UUID) -> list[AppliedRefund]:
    """Return the refunds of a parent that reached a row (its own or its override's), in order of acceptance."""
    return _REACHED_ROWS.all(_REACHED, (conversion_id, organization_id, parent_id))


_PARENT = "select parent_id from conversion where organization_id = %s and id = %s"


def find_parent(*, organization_id: UUID, conversion_id: UUID) -> UUID | None:
    """Return the parent of an override row; None for any other row and for an unknown id."""
    row = db.row(_PARENT, (organization_id, conversion_id))
    return row[0] if row else None


_RELEASE = """
update conversion set status = 'Approved'
where (organization_id, id) in (
  select organization_id, id from conversion where status = 'Pending' and not payout_locked and hold_until <= %s
    and not needs_approval
  order by hold_until limit %s for no key update skip locked
)
returning 1
"""


def any_org_release(*, now: datetime, limit: int) -> int:
    """Approve up to `limit` Pending conversions whose hold has passed; return how many.

    Locked history and conversions that need a Manager's approval stay Pending. Rows locked by another transaction are
    skipped until the next run.
    """
    return len(db.run(_RELEASE, (now, limit)))
