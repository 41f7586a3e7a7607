"""Reads the audit log: pages of it, and the whole of it in pieces. `models.organization.audit` writes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db

_COLUMNS = (
    "id, action, entity_type, entity_id, actor_type, actor_user_id, actor_label, ip, user_agent, request_id,"
    " before, after, created_at"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One audit entry, whole."""

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
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for; None leaves a column alone. `until` is not included, `ips` are the ways to keep one."""

    action: str | None = None
    entity_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    actor_user_id: UUID | None = None
    ips: Sequence[str] | None = None


def count(*, organization_id: UUID, filters: Filters) -> int:
    """Return how many entries there are."""
    condition, params = _condition(organization_id, filters)
    row = db.row(f"select count(*) from audit_entry where {condition}", params)
    assert row is not None
    return int(row[0])


def page(*, organization_id: UUID, filters: Filters, skip: int, limit: int) -> list[Entry]:
    """Return up to `limit` entries, newest first, after `skip` of them.

    What is skipped is counted in the index; only the rows of the page are read.
    """
    condition, params = _condition(organization_id, filters)
    rows = db.run(
        f"select {_COLUMNS} from audit_entry where organization_id = %s and id in"
        f" (select id from audit_entry where {condition} order by created_at desc, id desc offset %s limit %s)"
        " order by created_at desc, id desc",
        (organization_id, *params, skip, limit),
    )
    return [Entry(*row) for row in rows]


def after(
    *, organization_id: UUID, filters: Filters, position: tuple[datetime, UUID] | None, limit: int
) -> list[Entry]:
    """Return up to `limit` entries, newest first, after a position in that order."""
    condition, params = _condition(organization_id, filters)
    if position is not None:
        condition += " and (created_at, id) < (%s, %s)"
        params.extend(position)
    rows = db.run(
        f"select {_COLUMNS} from audit_entry where {condition} order by created_at desc, id desc limit %s",
        (*params, limit),
    )
    return [Entry(*row) for row in rows]


def _condition(organization_id: UUID, filters: Filters) -> tuple[str, list[object]]:
    conditions: list[str] = ["organization_id = %s"]
    params: list[object] = [organization_id]
    for column, value in (
        ("action = %s", filters.action),
        ("entity_type = %s", filters.entity_type),
        ("created_at >= %s", filters.since),
        ("created_at < %s", filters.until),
        ("actor_user_id = %s", filters.actor_user_id),
        ("ip = any(%s)", None if filters.ips is None else list(filters.ips)),
    ):
        if value is not None:
            conditions.append(column)
            params.append(value)
    return " and ".join(conditions), params
