"""Reads the audit log: by page, and completely in pieces. `models.organization.audit` writes it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One audit entry."""

    id: UUID
    action: str
    entity_type: str
    entity_id: str
    actor_type: str
    actor_user_id: UUID | None
    actor_label: str | None
    ip: str | None
    user_agent: str | None
    request_id: str | None
    via: str | None
    client: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """Filters; None does not filter. `until` is exclusive; `ips` are the forms in which one address may be stored."""

    action: str | None = None
    entity_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    actor_user_id: UUID | None = None
    ips: Sequence[str] | None = None


_ENTRIES = Rows(AuditEntry)
_MATCHING = """
organization_id = %(org)s
  and (%(action)s::text is null or action = %(action)s)
  and (%(entity_type)s::text is null or entity_type = %(entity_type)s)
  and (%(since)s::timestamptz is null or created_at >= %(since)s)
  and (%(until)s::timestamptz is null or created_at < %(until)s)
  and (%(actor_user_id)s::uuid is null or actor_user_id = %(actor_user_id)s)
  and (%(ips)s::text[] is null or ip = any(%(ips)s))
"""
_COUNT = f"select count(*) from audit_entry where {_MATCHING}"
# Skipped rows are counted in the index; only the rows of the page are read.
_PAGE = f"""
select {columns(AuditEntry)} from audit_entry
where organization_id = %(org)s and id in
  (select id from audit_entry where {_MATCHING} order by created_at desc, id desc offset %(skip)s limit %(limit)s)
order by created_at desc, id desc
"""
_AFTER = f"""
select {columns(AuditEntry)} from audit_entry
where {_MATCHING} and (%(at)s::timestamptz is null or (created_at, id) < (%(at)s, %(id)s::uuid))
order by created_at desc, id desc limit %(limit)s
"""


def count(*, organization_id: UUID, filters: AuditFilters) -> int:
    """Return how many entries match."""
    row = db.row(_COUNT, _params(organization_id, filters))
    assert row is not None
    return int(row[0])


def page(*, organization_id: UUID, filters: AuditFilters, skip: int, limit: int) -> list[AuditEntry]:
    """Return up to `limit` entries, newest first, after `skip` of them."""
    return _ENTRIES.all(_PAGE, _params(organization_id, filters) | {"skip": skip, "limit": limit})


def list_after(
    *, organization_id: UUID, filters: AuditFilters, position: tuple[datetime, UUID] | None, limit: int
) -> list[AuditEntry]:
    """Return up to `limit` entries, newest first, after a position in that order."""
    at, id = position or (None, None)
    return _ENTRIES.all(_AFTER, _params(organization_id, filters) | {"at": at, "id": id, "limit": limit})


def _params(organization_id: UUID, filters: AuditFilters) -> dict[str, object]:
    ips = None if filters.ips is None else list(filters.ips)
    return {**asdict(filters), "org": organization_id, "ips": ips}
