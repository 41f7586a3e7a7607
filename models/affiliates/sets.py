"""Many affiliates at once: bulk actions and imports, in statements that do not grow with their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db

_AFFILIATE_COLUMNS = {
    "id": "uuid",
    "program_id": "uuid",
    "email": "text",
    "email_normalized": "text",
    "full_name": "text",
    "status": "text",
    "source": "text",
    "wallet_email": "text",
    "import_job_id": "uuid",
    "is_test": "boolean",
    "applied_at": "timestamptz",
    "approved_at": "timestamptz",
    "created_at": "timestamptz",
}
_LINK_COLUMNS = {
    "id": "uuid",
    "program_id": "uuid",
    "affiliate_id": "uuid",
    "slug": "text",
    "custom_alias": "text",
    "is_default": "boolean",
    "created_at": "timestamptz",
}


@dataclass(frozen=True, slots=True)
class Changed:
    """An affiliate whom a bulk action took."""

    id: UUID
    program_id: UUID
    email: str
    full_name: str
    status_before: str
    approved_at: datetime | None
    application_data: Mapping[str, Any] | None


_LOCK = """
select from affiliate where organization_id = %s and id = any(%s) and deleted_at is null
order by id for no key update
"""

_CHANGED = """
from affiliate b where b.organization_id = a.organization_id and b.id = a.id
  and a.organization_id = %(org)s and a.id = any(%(ids)s) and a.deleted_at is null
  and (%(from)s::text is null or a.status = %(from)s::text)
returning a.id, a.program_id, a.email, a.full_name, b.status, a.approved_at, a.application_data
"""


def approve(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[Changed]:
    """Approve those who are Pending and return them."""
    return _change(
        "status = 'Approved', approved_at = coalesce(a.approved_at, %(at)s)",
        organization_id=organization_id,
        affiliate_ids=affiliate_ids,
        status_before="Pending",
        at=at,
    )


def pause(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> list[Changed]:
    """Pause those who are Approved and return them."""
    return _change(
        "status = 'Paused'", organization_id=organization_id, affiliate_ids=affiliate_ids, status_before="Approved"
    )


def delete(*, organization_id: UUID, affiliate_ids: Sequence[UUID], at: datetime) -> list[Changed]:
    """Mark affiliates as deleted, whatever their status, and return them. Their links are the caller's."""
    return _change("deleted_at = %(at)s", organization_id=organization_id, affiliate_ids=affiliate_ids, at=at)


def emails_in(*, organization_id: UUID, program_id: UUID, emails: Sequence[str]) -> set[str]:
    """Return which of these emails the program has an affiliate with."""
    rows = db.run(
        "select email from affiliate where organization_id = %s and program_id = %s and email = any(%s)"
        " and deleted_at is null",
        (organization_id, program_id, list(emails)),
    )
    return {email for (email,) in rows}


def known(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these ids are affiliates of the organization, those who were deleted included."""
    rows = db.run(
        "select id from affiliate where organization_id = %s and id = any(%s::uuid[])",
        (organization_id, list(affiliate_ids)),
    )
    return {row[0] for row in rows}


def imported(
    *, organization_id: UUID, import_job_id: UUID, statuses: Sequence[str], after: UUID, limit: int
) -> list[tuple[UUID, str]]:
    """Return id and email of up to `limit` affiliates of an import in one of these statuses, by id, after one."""
    rows: list[Any] = db.run(
        "select id, email from affiliate where organization_id = %s and import_job_id = %s and status = any(%s)"
        " and deleted_at is null and id > %s order by id limit %s",
        (organization_id, import_job_id, list(statuses), after, limit),
    )
    return rows


def stage_affiliates(organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of many affiliates, in one statement."""
    _stage("affiliate", _AFFILIATE_COLUMNS, organization_id, rows)


def stage_links(organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of many tracking links, in one statement.

    A slug has a turn in the whole service, so all take turns in one order: two imports that share slugs wait for each
    other and no more.
    """
    _stage("tracking_link", _LINK_COLUMNS, organization_id, sorted(rows, key=lambda row: str(row["slug"])))


def _change(
    assignments: str,
    *,
    organization_id: UUID,
    affiliate_ids: Sequence[UUID],
    status_before: str | None = None,
    at: datetime | None = None,
) -> list[Changed]:
    # Locked in the order of their ids, so that two bulk actions that meet wait for each other and no more.
    db.stage(_LOCK, (organization_id, list(affiliate_ids)))
    rows = db.run(
        f"update affiliate a set {assignments} {_CHANGED}",
        {"org": organization_id, "ids": list(affiliate_ids), "from": status_before, "at": at},
    )
    return [Changed(*row) for row in rows]


def _stage(table: str, columns: Mapping[str, str], organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    arrays = ", ".join(f"%s::{type}[]" for type in columns.values())
    db.stage(
        f"insert into {table} (organization_id, {', '.join(columns)}) select %s, * from unnest({arrays})",
        [organization_id, *([row[name] for row in rows] for name in columns)],
    )
