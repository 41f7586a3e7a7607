"""Bulk actions on affiliates: the number of statements does not depend on how many there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ChangedAffiliate:
    """An affiliate changed by a bulk action."""

    id: UUID
    program_id: UUID
    email: str
    full_name: str
    status: str
    status_before: str
    source: str
    approved_at: datetime | None
    approved_at_before: datetime | None
    application_data: Mapping[str, Any] | None


_CHANGED_ROWS = Rows(ChangedAffiliate)
# Locked in the order of their ids, so that two concurrent bulk actions wait for each other and never deadlock.
_LOCK = """
select from affiliate where organization_id = %(org)s and id = any(%(ids)s) and deleted_at is null
order by id for no key update
"""
_FROM_LOCKED = """
from affiliate b
where b.organization_id = a.organization_id and b.id = a.id
  and a.organization_id = %(org)s and a.id = any(%(ids)s) and a.deleted_at is null
"""
_RETURNING = f"returning {columns(ChangedAffiliate, 'a', status_before='b.status', approved_at_before='b.approved_at')}"
_APPROVE = f"""
update affiliate a set status = 'Approved', approved_at = coalesce(a.approved_at, %(at)s)
{_FROM_LOCKED} and a.status = 'Pending' {_RETURNING}
"""
_PAUSE = f"update affiliate a set status = 'Paused' {_FROM_LOCKED} and a.status = 'Approved' {_RETURNING}"
_DELETE = f"update affiliate a set deleted_at = %(at)s {_FROM_LOCKED} {_RETURNING}"


def approve(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[ChangedAffiliate]:
    """Approve those that are Pending and return them."""
    return _update_all(_APPROVE, organization_id, affiliate_ids, at=at)


def pause(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> list[ChangedAffiliate]:
    """Pause those that are Approved and return them."""
    return _update_all(_PAUSE, organization_id, affiliate_ids)


def delete(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[ChangedAffiliate]:
    """Mark affiliates as deleted, in any status, and return them. The caller ends their links."""
    return _update_all(_DELETE, organization_id, affiliate_ids, at=at)


def _update_all(
    sql: str, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime | None = None
) -> list[ChangedAffiliate]:
    params = {"org": organization_id, "ids": list(affiliate_ids), "at": at}
    db.stage(_LOCK, params)
    return _CHANGED_ROWS.all(sql, params)


_EXISTING_EMAILS = """
select email from affiliate
where organization_id = %s and program_id = %s and email = any(%s) and deleted_at is null
"""
_EXISTING = "select id from affiliate where organization_id = %s and id = any(%s::uuid[])"


def find_existing_emails(*, organization_id: UUID, program_id: UUID, emails: Sequence[str]) -> set[str]:
    """Return which of these emails belong to an affiliate of the program."""
    return {email for (email,) in db.run(_EXISTING_EMAILS, (organization_id, program_id, list(emails)))}


def find_existing(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these ids are affiliates of the organization, including deleted ones."""
    return {affiliate_id for (affiliate_id,) in db.run(_EXISTING, (organization_id, list(affiliate_ids)))}


class ImportedAffiliate(NamedTuple):
    """An affiliate created by an import."""

    id: UUID
    email: str


_IMPORTED = """
select id, email from affiliate
where organization_id = %s and import_job_id = %s and status = any(%s) and deleted_at is null and id > %s
order by id limit %s
"""


def list_imported(
    *, organization_id: UUID, import_job_id: UUID, statuses: Sequence[str], after: UUID, limit: int
) -> list[ImportedAffiliate]:
    """Return up to `limit` affiliates of an import in one of these statuses, by id, after an id."""
    params = (organization_id, import_job_id, list(statuses), after, limit)
    return Rows(ImportedAffiliate).all(_IMPORTED, params)
