"""What the last check of every organization's money found."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db

_TURN = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Result:
    """The last check of one organization; `findings` are objects of `rule` and `exception`."""

    organization_id: UUID
    name: str
    checked_at: datetime
    findings: list[dict[str, str]]


def stage(*, organization_id: UUID, findings: Sequence[tuple[str, str]], at: datetime) -> None:
    """Stage what a check found, in place of what the one before it found."""
    db.stage(
        "insert into ledger_check (organization_id, checked_at, findings) values (%s, %s, %s)"
        " on conflict (organization_id) do update set checked_at = excluded.checked_at, findings = excluded.findings",
        (organization_id, at, Json([{"rule": rule, "exception": exception} for rule, exception in findings])),
    )


def is_doubtful(organization_id: UUID) -> bool:
    """Say whether the last check of an organization found anything, or a rail has paid what was let go of as unpaid."""
    return bool(
        db.run(
            "select from ledger_check where organization_id = %s and is_red union all"
            " select from rail_event e join payout p on p.organization_id = e.organization_id and p.id = e.payout_id"
            " where e.organization_id = %s and e.outcome = 'Contradicts' and e.answer = 'Paid'"
            " and p.voided_at is not null limit 1",
            (organization_id, organization_id),
        )
    )


def any_org_list(*, only_red: bool) -> list[Result]:
    """Return the last checks, the oldest first."""
    rows = db.run(
        "select k.organization_id, o.name, k.checked_at, k.findings from ledger_check k"
        " join organization o on o.id = k.organization_id where k.is_red or not %s order by k.checked_at",
        (only_red,),
    )
    return [Result(*row) for row in rows]


def any_org_summary() -> tuple[int, int, float]:
    """Return how many organizations are red, how many were checked, and how old the oldest check is, in seconds."""
    row = db.row(
        "select count(*) filter (where is_red), count(*),"
        " coalesce(extract(epoch from now() - min(checked_at)), 0)::float from ledger_check"
    )
    assert row is not None
    return int(row[0]), int(row[1]), float(row[2])


def any_org_next(*, after: UUID = _TURN, limit: int) -> list[UUID]:
    """Return the next organizations to check, by id."""
    rows = db.run("select id from organization where id > %s order by id limit %s", (after, limit))
    return [row[0] for row in rows]
