"""The books of the sandbox rail: one row per key, no matter how often it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.hot import Hot


@dataclass(frozen=True, slots=True)
class Booked:
    """A transfer in the books; `state` is a SandboxState."""

    amount_cents: int
    currency: str
    account: str
    state: str
    references: Mapping[str, str]
    created_at: datetime


_COLUMNS = 'amount_cents, currency, account, state, "references", created_at'

_BOOK = Hot(
    f"insert into sandbox_transfer (organization_id, key, method, {_COLUMNS})"
    " values (%s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict do nothing returning key"
)


def book(
    *,
    organization_id: UUID,
    key: str,
    method: str,
    booked: Booked,
) -> bool:
    """Write a transfer down; False when there is one under this key already, which then stays as it is.

    The commit need not wait for the disk: all that is committed after it, as what a payout makes of the answer, reaches
    the disk after it. A server that loses it has lost that, too, and is asked again.
    """
    db.stage("set local synchronous_commit = off")
    row = db.row(
        _BOOK,
        (
            organization_id,
            key,
            method,
            booked.amount_cents,
            booked.currency,
            booked.account,
            booked.state,
            Json(dict(booked.references)),
            booked.created_at,
        ),
    )
    return row is not None


def find(*, organization_id: UUID, key: str) -> Booked | None:
    """Return the transfer under a key."""
    row = db.row(
        f"select {_COLUMNS} from sandbox_transfer where organization_id = %s and key = %s", (organization_id, key)
    )
    return Booked(*row) if row else None


def stage_carried_out(*, organization_id: UUID, key: str) -> None:
    """Stage that a Lost transfer is a Paid one."""
    db.stage(
        "update sandbox_transfer set state = 'Paid' where organization_id = %s and key = %s and state = 'Lost'",
        (organization_id, key),
    )
