"""Payouts and runs of all organizations, as an operator looks at them. Nothing here changes a row."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.db import db, reading_whole_tables


@dataclass(frozen=True, slots=True)
class DeskRun:
    """A run with what its payouts come to now, in US cents. `confirmed_by` None: an automatic cadence."""

    id: UUID
    organization_id: UUID
    organization: str
    confirmed_by: UUID | None
    payouts: int
    amount_cents: int
    pending: int
    review_status: str | None
    hold_until: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeskPayout:
    """A payout in a list. US cents."""

    id: UUID
    organization_id: UUID
    run_id: UUID
    affiliate_id: UUID
    amount_cents: int
    method: str
    status: str
    attempt: int
    failure_code: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeskAttempt:
    """One attempt: what the rail was asked and what it said. `age` is by the database's clock."""

    number: int
    key: str
    method: str
    amount_cents: int
    state: str
    asked: int
    detail: str | None
    age: timedelta


def any_org_runs(*, organization_id: UUID | None, only_waiting: bool, limit: int) -> list[DeskRun]:
    """Return runs, newest first; `only_waiting`: those that an operator is to review."""
    with reading_whole_tables():
        rows = db.run(
            "select r.id, r.organization_id, o.name, r.confirmed_by, count(p.id),"
            " coalesce(sum(p.amount_cents), 0)::bigint, count(p.id) filter (where p.status = 'Pending'),"
            " r.review_status, r.hold_until, r.created_at"
            " from payout_run r join organization o on o.id = r.organization_id"
            " left join payout p on p.organization_id = r.organization_id and p.run_id = r.id"
            " where (%(org)s::uuid is null or r.organization_id = %(org)s)"
            " and (not %(waiting)s or r.review_status = 'Pending')"
            " group by r.id, o.name order by r.created_at desc, r.id desc limit %(limit)s",
            {"org": organization_id, "waiting": only_waiting, "limit": limit},
        )
    return [DeskRun(*row) for row in rows]


def any_org_payouts(
    *, organization_id: UUID | None, run_id: UUID | None, status: str | None, limit: int
) -> list[DeskPayout]:
    """Return payouts, newest first; None leaves a column alone."""
    with reading_whole_tables():
        rows = db.run(
            f"select {', '.join(DeskPayout.__dataclass_fields__)} from payout"
            " where (%(org)s::uuid is null or organization_id = %(org)s)"
            " and (%(run)s::uuid is null or run_id = %(run)s) and (%(status)s::text is null or status = %(status)s)"
            " order by created_at desc, id desc limit %(limit)s",
            {"org": organization_id, "run": run_id, "status": status, "limit": limit},
        )
    return [DeskPayout(*row) for row in rows]


def any_org_owner_of_run(run_id: UUID) -> UUID | None:
    """Return whose run this is."""
    row = db.row("select organization_id from payout_run where id = %s", (run_id,))
    return row[0] if row else None


def attempts(*, organization_id: UUID, payout_id: UUID) -> list[DeskAttempt]:
    """Return what rails were asked for a payout, the first attempt first."""
    rows = db.run(
        "select number, key, method, amount_cents, state, asked, detail, now() - created_at from payout_attempt"
        " where organization_id = %s and payout_id = %s order by number",
        (organization_id, payout_id),
    )
    return [DeskAttempt(*row) for row in rows]
