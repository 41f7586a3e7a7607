"""The books of the sandbox that charges for deals: one row per key, no matter how often it is asked."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class BookedCharge:
    """A charge or a refund in the books; `state` is a SandboxState."""

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


def book(*, organization_id: UUID, key: str, booked: BookedCharge) -> bool:
    """Write one down; False when there is one under this key already, which then stays as it is."""
    return bool(db.run(_BOOK, asdict(booked) | {"org": organization_id, "key": key}))


_FIND = f"select {columns(BookedCharge)} from sandbox_charge where organization_id = %s and key = %s"
_booked = Rows(BookedCharge)


def find(*, organization_id: UUID, key: str) -> BookedCharge | None:
    """Return what is under a key."""
    return _booked.first(_FIND, (organization_id, key))


_CARRY_OUT = """
update sandbox_charge set state = 'Paid' where organization_id = %s and key = %s and state = 'Lost'
"""


def stage_carried_out(*, organization_id: UUID, key: str) -> None:
    """Stage that a Lost one is a Paid one."""
    db.stage(_CARRY_OUT, (organization_id, key))
