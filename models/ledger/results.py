"""Results of the last ledger check of every organization."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.table import Rows

_BEFORE_ALL = UUID(int=0)


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """The last check of one organization; `findings` are objects of `rule` and `exception`."""

    organization_id: UUID
    name: str
    checked_at: datetime
    findings: list[dict[str, str]]


_STORE = """
insert into ledger_check (organization_id, checked_at, findings) values (%s, %s, %s)
on conflict (organization_id) do update set checked_at = excluded.checked_at, findings = excluded.findings
"""


def stage(*, organization_id: UUID, findings: Sequence[tuple[str, str]], at: datetime) -> None:
    """Stage the findings of a check, which replace those of the previous one."""
    document = Json([{"rule": rule, "exception": exception} for rule, exception in findings])
    db.stage(_STORE, (organization_id, at, document))


_HAS_FINDINGS = """
select from ledger_check where organization_id = %(org)s and is_red
union all
select from rail_event e join payout p on p.organization_id = e.organization_id and p.id = e.payout_id
where e.organization_id = %(org)s and e.outcome = 'Contradicts' and e.answer = 'Paid' and p.voided_at is not null
limit 1
"""


def has_findings(organization_id: UUID) -> bool:
    """Return whether an organization's last check has findings, or a rail paid a payout that was voided as unpaid."""
    return bool(db.run(_HAS_FINDINGS, {"org": organization_id}))


_CHECKS = Rows(LedgerCheck)
_LIST = """
select k.organization_id, o.name, k.checked_at, k.findings
from ledger_check k join organization o on o.id = k.organization_id
where k.is_red or not %s order by k.checked_at
"""


def any_org_list(*, only_red: bool) -> list[LedgerCheck]:
    """Return the last checks, oldest first."""
    return _CHECKS.all(_LIST, (only_red,))


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """How many organizations are red, how many were checked, and how old the oldest check is, in seconds."""

    red: int
    checked: int
    age_s: float


_SUMMARIES = Rows(CheckSummary)
_SUMMARY = """
select count(*) filter (where is_red), count(*), coalesce(extract(epoch from now() - min(checked_at)), 0)::float
from ledger_check
"""


def any_org_summarize() -> CheckSummary:
    """Return the summary of the last checks."""
    summary = _SUMMARIES.first(_SUMMARY)
    assert summary is not None
    return summary


_NEXT = "select id from organization where id > %s order by id limit %s"


def any_org_list_next(*, after: UUID = _BEFORE_ALL, limit: int) -> list[UUID]:
    """Return the next organizations to check, by id."""
    return [organization_id for (organization_id,) in db.run(_NEXT, (after, limit))]
