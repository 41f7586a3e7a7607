"""Records of the sandbox that charges for deals: one row per key, however often it is requested."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class BookedCharge:
    """A recorded charge or refund; `state` is a SandboxState."""

    kind: str
    amount_cents: int
    currency: str
    charge_reference: str | None
    state: str
    reference: str
    created_at: datetime


_BOOK = f"""
insert into sandbox_charge (organization_id, key, {columns(BookedCharge)})
values (%(org)s, %(key)s, {", ".join(f"%({name})s" for name in BookedCharge.__dataclass_fields__)})
on conflict do nothing returning 1
"""


def book(*, organization_id: UUID, key: str, charge: BookedCharge) -> bool:
    """Record a charge; False when the key exists, whose row then stays unchanged."""
    return bool(db.run(_BOOK, asdict(charge) | {"org": organization_id, "key": key}))


_FIND = f"select {columns(BookedCharge)} from sandbox_charge where organization_id = %s and key = %s"
_charges = Rows(BookedCharge)


def find(*, organization_id: UUID, key: str) -> BookedCharge | None:
    """Return the record of a key."""
    return _charges.first(_FIND, (organization_id, key))


_CARRY_OUT = """
update sandbox_charge set state = 'Paid' where organization_id = %s and key = %s and state = 'Lost'
"""


def stage_carried_out(*, organization_id: UUID, key: str) -> None:
    """Stage that a Lost charge becomes Paid."""
    db.stage(_CARRY_OUT, (organization_id, key))
