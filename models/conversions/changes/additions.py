"""Amounts added to conversions after their first payment: further payments of an order, and higher totals."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from models.db import db
from models.ids import new_id
from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class Addition:
    """An amount added to a conversion, with its commission, in minor units of the conversion's currency.

    `payment_id` is the added gateway payment, None if the total of an already included payment increased.
    """

    organization_id: UUID
    conversion_id: UUID
    payment_id: UUID | None
    amount_cents: int
    commission_cents: int
    created_at: datetime
    id: UUID = field(default_factory=new_id)


_STAGE = PreparedStatement("""
with added as (
  insert into conversion_addition
    (organization_id, id, conversion_id, payment_id, amount_cents, commission_cents, created_at)
  values (%(org)s, %(id)s, %(conversion)s, %(payment)s, %(amount)s, %(commission)s, %(at)s)
)
update conversion
set amount_cents = amount_cents + %(amount)s, commission_cents = commission_cents + %(commission)s, status = %(status)s
where organization_id = %(org)s and id = %(conversion)s
""")


def stage(addition: Addition, *, status: str) -> None:
    """Stage an addition to a locked conversion, and the resulting status. The database adds each payment once."""
    db.stage(
        _STAGE,
        {
            "org": addition.organization_id,
            "id": addition.id,
            "conversion": addition.conversion_id,
            "payment": addition.payment_id,
            "amount": addition.amount_cents,
            "commission": addition.commission_cents,
            "at": addition.created_at,
            "status": status,
        },
    )


_EARNED = "select from ledger_entry where organization_id = %s and conversion_id = %s and kind = 'earn' limit 1"


def is_in_ledger(*, organization_id: UUID, conversion_id: UUID) -> bool:
    """Return whether the ledger booked a conversion's earning; false if it earned nothing when it was created."""
    return bool(db.run(_EARNED, (organization_id, conversion_id)))
