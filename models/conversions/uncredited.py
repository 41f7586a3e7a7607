"""Sales that credited nobody, because their affiliate could not earn. Rows of test keys are left out everywhere.

`models.conversions.sales.stage_uncredited` writes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.attribution import log
from models.db import db


@dataclass(frozen=True, slots=True)
class Uncredited:
    """One such sale with its affiliate, who may be deleted by now. Money is minor units."""

    id: UUID
    affiliate_id: UUID
    affiliate_email: str
    affiliate_name: str
    program_id: UUID
    amount_cents: int
    currency: str
    reason: str
    affiliate_status_at_drop: str
    status: str
    occurred_at: datetime
    attribution_log: list[str] | None

    @property
    def attribution(self) -> Sequence[log.Line]:
        """What the steps said that led to the affiliate; nothing where it was not kept."""
        return log.read(self.attribution_log or ())


_SELECT = (
    "select u.id, u.affiliate_id, a.email, a.full_name, u.program_id, u.amount_cents, u.currency, u.reason,"
    " u.affiliate_status_at_drop, u.status, u.occurred_at, u.attribution_log"
    " from uncredited_conversion u join affiliate a on a.id = u.affiliate_id"
    " where u.organization_id = %s and not u.is_test"
)


def page(*, organization_id: UUID, status: str | None, affiliate_id: UUID | None, limit: int) -> list[Uncredited]:
    """Return up to `limit` rows, newest first; None leaves a filter out."""
    filters = {"u.status = %s": status, "u.affiliate_id = %s": affiliate_id}
    wanted = {condition: value for condition, value in filters.items() if value is not None}
    rows = db.run(
        " and ".join([_SELECT, *wanted]) + " order by u.occurred_at desc, u.id desc limit %s",
        (organization_id, *wanted.values(), limit),
    )
    return [Uncredited(*row) for row in rows]


def lock(*, organization_id: UUID, uncredited_id: UUID) -> Uncredited | None:
    """Return one row, locked until the transaction ends."""
    row = db.row(f"{_SELECT} and u.id = %s for update of u", (organization_id, uncredited_id))
    return Uncredited(*row) if row else None


def stage_dismissed(*, organization_id: UUID, uncredited_id: UUID) -> None:
    """Mark a row as reviewed."""
    db.stage(
        "update uncredited_conversion set status = 'dismissed' where organization_id = %s and id = %s",
        (organization_id, uncredited_id),
    )


@dataclass(frozen=True, slots=True)
class Total:
    """What is open in one currency."""

    currency: str
    amount_cents: int
    count: int


def open_totals(organization_id: UUID) -> list[Total]:
    """Return what is open, by currency."""
    rows = db.run(
        "select currency, sum(amount_cents)::bigint, count(*) from uncredited_conversion"
        " where organization_id = %s and status = 'open' and not is_test group by currency order by currency",
        (organization_id,),
    )
    return [Total(*row) for row in rows]
