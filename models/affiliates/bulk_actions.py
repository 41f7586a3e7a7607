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
    """An affiliate changed by a bulk action.

    `is_first_rejection`: they applied, were never approved, and were not emailed about a rejection before.
    """

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
    partner_group_id_before: UUID | None
    tags: Sequence[str]
    tags_before: Sequence[str]
    is_first_rejection: bool


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
_IS_FIRST_REJECTION = "(b.status = 'Pending' and b.approved_at is null and b.rejection_mailed_at is null)"
_BEFORE = {
    "status_before": "b.status",
    "approved_at_before": "b.approved_at",
    "partner_group_id_before": "b.partner_group_id",
    "tags_before": "b.tags",
    "is_first_rejection": _IS_FIRST_REJECTION,
}
_RETURNING = f"returning {columns(ChangedAffiliate, 'a', **_BEFORE)}"
_APPROVE = f"""
update affiliate a set status = 'Approved', approved_at = coalesce(a.approved_at, %(at)s)
{_FROM_LOCKED} and a.status = 'Pending' {_RETURNING}
"""
_PAUSE = f"update affiliate a set status = 'Paused' {_FROM_LOCKED} and a.status = 'Approved' {_RETURNING}"
_REJECT = f"""
update affiliate a set status = 'Rejected', rejection_reason = %(reason)s,
  rejection_mailed_at = case when {_IS_FIRST_REJECTION} then %(at)s else a.rejection_mailed_at end
{_FROM_LOCKED} and a.status = 'Pending' {_RETURNING}
"""
_TAG = f"""
update affiliate a set tags = a.tags || %(tag)s::text
{_FROM_LOCKED} and not a.tags @> array[%(tag)s::text] and cardinality(a.tags) < %(max_tags)s {_RETURNING}
"""
_UNTAG = f"""
update affiliate a set tags = array_remove(a.tags, %(tag)s::text)
{_FROM_LOCKED} and a.tags @> array[%(tag)s::text] {_RETURNING}
"""
_GROUP = f"""
update affiliate a set partner_group_id = %(group)s
{_FROM_LOCKED} and a.partner_group_id is distinct from %(group)s::uuid
  and (%(program)s::uuid is null or a.program_id = %(program)s) {_RETURNING}
"""
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


def reject(
    *, organization_id: UUID, affiliate_ids: Sequence[UUID], reason: str | None, at: datetime
) -> list[ChangedAffiliate]:
    """Reject those that are Pending and return them."""
    return _update_all(_REJECT, organization_id, affiliate_ids, at=at, reason=reason)


def tag(*, organization_id: UUID, affiliate_ids: Sequence[UUID], tag: str, max_tags: int) -> list[ChangedAffiliate]:
    """Add a tag to those that lack it and have room for it, and return them."""
    return _update_all(_TAG, organization_id, affiliate_ids, tag=tag, max_tags=max_tags)


def untag(*, organization_id: UUID, affiliate_ids: Sequence[UUID], tag: str) -> list[ChangedAffiliate]:
    """Remove a tag from those that have it, and return them."""
    return _update_all(_UNTAG, organization_id, affiliate_ids, tag=tag)


def move_to_group(
    *, organization_id: UUID, affiliate_ids: Sequence[UUID], group_id: UUID | None, program_id: UUID | None
) -> list[ChangedAffiliate]:
    """Move those of the program to a group, or out of their group without one, and return them."""
    return _update_all(_GROUP, organization_id, affiliate_ids, group=group_id, program=program_id)


@dataclass(frozen=True, slots=True)
class SkippedAffiliate:
    """An affiliate that a bulk action did not change."""

    id: UUID
    program_id: UUID
    status: str
    tags: tuple[str, ...]


_SKIPPED = f"""
select {columns(SkippedAffiliate)} from affiliate
where organization_id = %s and id = any(%s::uuid[]) and deleted_at is null
"""


def list_skipped(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> dict[UUID, SkippedAffiliate]:
    """Return those of these affiliates that exist, by id."""
    rows = Rows(SkippedAffiliate).all(_SKIPPED, (organization_id, list(affiliate_ids)))
    return {row.id: row for row in rows}


def _update_all(
    sql: str, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime | None = None, **values: object
) -> list[ChangedAffiliate]:
    params = {"org": organization_id, "ids": list(affiliate_ids), "at": at, **values}
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


_IDS_BY_EMAIL = """
select a.program_id, a.email, a.id from affiliate a
join unnest(%s::uuid[], %s::text[]) as sought (program_id, email)
  on a.program_id = sought.program_id and a.email = sought.email
where a.organization_id = %s and a.deleted_at is null
"""


def find_ids_by_email(*, organization_id: UUID, people: Sequence[tuple[UUID, str]]) -> dict[tuple[UUID, str], UUID]:
    """Return the ids of the affiliates with these emails in these programs, by program and email."""
    params = ([program_id for program_id, _ in people], [email for _, email in people], organization_id)
    return {(program_id, email): affiliate_id for program_id, email, affiliate_id in db.run(_IDS_BY_EMAIL, params)}


_EMAILS = "select id, email from affiliate where organization_id = %s and id = any(%s::uuid[])"


def find_emails(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the emails of these affiliates of the organization, including deleted ones."""
    return dict(db.run(_EMAILS, (organization_id, list(affiliate_ids))))


_DELETED = f"{_EXISTING} and deleted_at is not null"


def find_deleted(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these ids are deleted affiliates of the organization."""
    return {affiliate_id for (affiliate_id,) in db.run(_DELETED, (organization_id, list(affiliate_ids)))}


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
