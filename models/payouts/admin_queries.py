"""Payouts and runs of all organizations, for the operator. Read-only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from models.db import allowing_table_scans, db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AdminRun:
    """A run with the current sum of its payouts, in US cents. `confirmed_by` None: an automatic cadence."""

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
class AdminPayout:
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
class AdminAttempt:
    """One attempt: the request to the rail and its response. `age` is by the database's clock."""

    number: int
    key: str
    method: str
    amount_cents: int
    state: str
    asked: int
    detail: str | None
    age: timedelta


_RUN = {
    "organization": "o.name",
    "payouts": "count(p.id)",
    "amount_cents": "coalesce(sum(p.amount_cents), 0)::bigint",
    "pending": "count(p.id) filter (where p.status = 'Pending')",
}
_RUNS = f"""
select {columns(AdminRun, "r", **_RUN)}
from payout_run r
join organization o on o.id = r.organization_id
left join payout p on p.organization_id = r.organization_id and p.run_id = r.id
where (%(org)s::uuid is null or r.organization_id = %(org)s) and (not %(waiting)s or r.review_status = 'Pending')
group by r.organization_id, r.id, o.name order by r.created_at desc, r.id desc limit %(limit)s
"""
_runs = Rows(AdminRun)


def any_org_list_runs(*, organization_id: UUID | None, only_waiting: bool, limit: int) -> list[AdminRun]:
    """Return runs, newest first; `only_waiting`: those that wait for an operator's review."""
    with allowing_table_scans():
        return _runs.all(_RUNS, {"org": organization_id, "waiting": only_waiting, "limit": limit})


_PAYOUTS = f"""
select {columns(AdminPayout)} from payout
where (%(org)s::uuid is null or organization_id = %(org)s) and (%(run)s::uuid is null or run_id = %(run)s)
  and (%(status)s::text is null or status = %(status)s)
order by created_at desc, id desc limit %(limit)s
"""
_payouts = Rows(AdminPayout)


def any_org_list_payouts(
    *, organization_id: UUID | None, run_id: UUID | None, status: str | None, limit: int
) -> list[AdminPayout]:
    """Return payouts, newest first; None does not filter."""
    with allowing_table_scans():
        return _payouts.all(_PAYOUTS, {"org": organization_id, "run": run_id, "status": status, "limit": limit})


def any_org_find_organization_of_run(run_id: UUID) -> UUID | None:
    """Return the organization of a run."""
    row = db.row("select organization_id from payout_run where id = %s", (run_id,))
    return row[0] if row else None


@dataclass(frozen=True, slots=True)
class DoubtfulPayout:
    """A payout that may or may not have been paid, with its current attempt and how often its rail answered.

    `contradicted`: our records say that it was not paid and its rail says that it was. US cents.
    """

    id: UUID
    organization_id: UUID
    organization: str
    affiliate_id: UUID
    amount_cents: int
    method: str
    status: str
    attempt: int
    key: str | None
    asked: int | None
    asked_at: datetime | None
    detail: str | None
    contradicted: bool


_CONTRADICTED = """exists (select from rail_event e
  where e.organization_id = p.organization_id and e.payout_id = p.id
    and e.outcome = 'Contradicts' and e.answer = 'Paid')"""
_OPEN_ATTEMPT = {
    "organization": "o.name",
    "key": "a.key",
    "asked": "a.asked",
    "asked_at": "a.created_at as asked_at",
    "detail": "a.detail",
    "contradicted": _CONTRADICTED,
}
# An attempt without a response for a quarter of an hour deserves attention; most responses arrive within seconds.
_DOUBTFUL = f"""
select {columns(DoubtfulPayout, "p", **_OPEN_ATTEMPT)} from payout_attempt a
join payout p on p.organization_id = a.organization_id and p.id = a.payout_id and p.attempt = a.number
join organization o on o.id = p.organization_id
where p.status = 'Processing' and a.state in ('intent', 'unknown', 'accepted')
  and a.created_at < now() - interval '15 minutes'
union
select {columns(DoubtfulPayout, "p", **_OPEN_ATTEMPT)} from rail_event event
join payout p on p.organization_id = event.organization_id and p.id = event.payout_id
join organization o on o.id = p.organization_id
left join payout_attempt a on a.organization_id = p.organization_id and a.payout_id = p.id and a.number = p.attempt
where event.outcome = 'Contradicts' and event.answer = 'Paid' and p.status <> 'Paid'
order by asked_at, id limit %s
"""
_doubtful = Rows(DoubtfulPayout)


def any_org_list_doubtful(*, limit: int) -> list[DoubtfulPayout]:
    """Return payouts whose rail has not answered for a while or contradicts our records, oldest attempt first."""
    with allowing_table_scans():
        return _doubtful.all(_DOUBTFUL, (limit,))


_ATTEMPTS = f"""
select {columns(AdminAttempt, age="now() - created_at")} from payout_attempt
where organization_id = %s and payout_id = %s order by number
"""
_attempts = Rows(AdminAttempt)


def list_attempts(*, organization_id: UUID, payout_id: UUID) -> list[AdminAttempt]:
    """Return the attempts of a payout, oldest first."""
    return _attempts.all(_ATTEMPTS, (organization_id, payout_id))
