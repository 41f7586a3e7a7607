"""Records of the sandbox rail: one row per key, however often it is requested."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class BookedTransfer:
    """A recorded transfer; `state` is a SandboxState."""

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
    """Record a transfer; False if the key exists, whose row then stays unchanged.

    The commit does not wait for the disk: later commits, such as the payout's result, reach the disk after it. A server
    that loses it has lost those too, and the transfer is requested again.
    """
    db.stage("set local synchronous_commit = off")
    params = {"org": organization_id, "key": key, "method": method}
    return bool(db.run(_BOOK, asdict(transfer) | params | {"references": Json(dict(transfer.references))}))


_FIND = f"select {_COLUMNS} from sandbox_transfer where organization_id = %s and key = %s"
_transfers = Rows(BookedTransfer)


def find(*, organization_id: UUID, key: str) -> BookedTransfer | None:
    """Return the transfer of a key."""
    return _transfers.first(_FIND, (organization_id, key))


_CARRY_OUT = """
update sandbox_transfer set state = 'Paid' where organization_id = %s and key = %s and state = 'Lost'
"""


def stage_carried_out(*, organization_id: UUID, key: str) -> None:
    """Stage that a Lost transfer becomes Paid."""
    db.stage(_CARRY_OUT, (organization_id, key))
