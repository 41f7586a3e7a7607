"""The books of the sandbox rail: one row per key, no matter how often it is asked."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class BookedTransfer:
    """A transfer in the books; `state` is a SandboxState."""

    amount_cents: int
    currency: str
    account: str
    state: str
    references: Mapping[str, str]
    created_at: datetime


_COLUMNS = columns(BookedTransfer, references='"references"')
_BOOK = PreparedStatement(f"""
insert into sandbox_transfer (organization_id, key, method, {_COLUMNS})
values (%(org)s, %(key)s, %(method)s, {", ".join(f"%({name})s" for name in BookedTransfer.__dataclass_fields__)})
on conflict do nothing returning 1
""")


def book(*, organization_id: UUID, key: str, method: str, transfer: BookedTransfer) -> bool:
    """Write a transfer down; False when there is one under this key already, which then stays as it is.

    The commit need not wait for the disk: all that is committed after it, as what a payout makes of the answer, reaches
    the disk after it. A server that loses it has lost that, too, and is asked again.
    """
    db.stage("set local synchronous_commit = off")
    whose = {"org": organization_id, "key": key, "method": method}
    return bool(db.run(_BOOK, asdict(transfer) | whose | {"references": Json(dict(transfer.references))}))


_FIND = f"select {_COLUMNS} from sandbox_transfer where organization_id = %s and key = %s"
_transfers = Rows(BookedTransfer)


def find(*, organization_id: UUID, key: str) -> BookedTransfer | None:
    """Return the transfer under a key."""
    return _transfers.first(_FIND, (organization_id, key))


_CARRY_OUT = """
update sandbox_transfer set state = 'Paid' where organization_id = %s and key = %s and state = 'Lost'
"""


def stage_carried_out(*, organization_id: UUID, key: str) -> None:
    """Stage that a Lost transfer is a Paid one."""
    db.stage(_CARRY_OUT, (organization_id, key))
