"""Many affiliates at once, in statements that do not grow with their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ChangedAffiliate:
    """An affiliate whom a bulk action took."""

    id: UUID
    program_id: UUID
    email: str
    full_name: str
    status: str
    status_before: str
    source: str
    approved_at: datetime | None
    approved_before: datetime | None
    application_data: Mapping[str, Any] | None


_CHANGED_ROWS = Rows(ChangedAffiliate)
# Locked in the order of their ids, so that two bulk actions that meet wait for each other and no more.
_LOCK = """
select from affiliate where organization_id = %(org)s and id = any(%(ids)s) and deleted_at is null
order by id for no key update
"""
_THOSE = """
from affiliate b
where b.organization_id = a.organization_id and b.id = a.id
  and a.organization_id = %(org)s and a.id = any(%(ids)s) and a.deleted_at is null
"""
_RETURNING = f"returning {columns(ChangedAffiliate, 'a', status_before='b.status', approved_before='b.approved_at')}"
_APPROVE = f"""
update affiliate a set status = 'Approved', approved_at = coalesce(a.approved_at, %(at)s)
{_THOSE} and a.status = 'Pending' {_RETURNING}
"""
_PAUSE = f"update affiliate a set status = 'Paused' {_THOSE} and a.status = 'Approved' {_RETURNING}"
_DELETE = f"update affiliate a set deleted_at = %(at)s {_THOSE} {_RETURNING}"


def approve(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[ChangedAffiliate]:
    """Approve those who are Pending and return them."""
    return _changed(_APPROVE, organization_id, affiliate_ids, at=at)


def pause(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> list[ChangedAffiliate]:
    """Pause those who are Approved and return them."""
    return _changed(_PAUSE, organization_id, affiliate_ids)


def delete(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[ChangedAffiliate]:
    """Mark affiliates as deleted, in any status, and return them. Their links are the caller's."""
    return _changed(_DELETE, organization_id, affiliate_ids, at=at)


def _changed(
    sql: str, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime | None = None
) -> list[ChangedAffiliate]:
    those = {"org": organization_id, "ids": list(affiliate_ids), "at": at}
    db.stage(_LOCK, those)
    return _CHANGED_ROWS.all(sql, those)


_EMAILS_IN = """
select email from affiliate
where organization_id = %s and program_id = %s and email = any(%s) and deleted_at is null
"""
_KNOWN = "select id from affiliate where organization_id = %s and id = any(%s::uuid[])"


def emails_in(*, organization_id: UUID, program_id: UUID, emails: Sequence[str]) -> set[str]:
    """Return which of these emails the program has an affiliate with."""
    return {email for (email,) in db.run(_EMAILS_IN, (organization_id, program_id, list(emails)))}


def known(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these ids are affiliates of the organization, those who were deleted included."""
    return {found for (found,) in db.run(_KNOWN, (organization_id, list(affiliate_ids)))}


class ImportedAffiliate(NamedTuple):
    """An affiliate whom an import brought."""

    id: UUID
    email: str


_IMPORTED = """
select id, email from affiliate
where organization_id = %s and import_job_id = %s and status = any(%s) and deleted_at is null and id > %s
order by id limit %s
"""


def imported(
    *, organization_id: UUID, import_job_id: UUID, statuses: Sequence[str], after: UUID, limit: int
) -> list[ImportedAffiliate]:
    """Return up to `limit` affiliates of an import in one of these statuses, by id, after one."""
    wanted = (organization_id, import_job_id, list(statuses), after, limit)
    return Rows(ImportedAffiliate).all(_IMPORTED, wanted)
