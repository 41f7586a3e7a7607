"""Inserts entries of the audit log."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from models import db
from models.organization import audit
from tests.support.rows.brands import Brand

URL = "/api/v1/audit-log"
START = datetime(2026, 3, 1, tzinfo=UTC)


def insert_entry(
    brand: Brand, action: str = "program.created", *, at: datetime = START, **columns: Any
) -> dict[str, Any]:
    """Insert an entry and return its columns; `columns` override the defaults."""
    values: dict[str, Any] = {
        "entity_id": str(uuid4()),
        "actor_type": "member",
        "actor_user_id": uuid4(),
        "actor_label": "ann@example.com",
        "ip": "203.0.113.7",
        "user_agent": "Browser/1.0",
        "request_id": "r-1",
        "before": {"name": "old"},
        "after": {"name": "new"},
    } | columns
    with db.unit_of_work(brand.id):
        audit.stage(organization_id=brand.id, action=action, at=at, **values)
    return {"entity_type": action.split(".")[0], **values}


def insert_entries(brand: Brand, count: int) -> None:
    """Insert entries a second apart, with the entity ids 1 (the oldest), 2, …"""
    with db.unit_of_work(brand.id):
        db.db.stage("set local statement_timeout = 0")  # the insert may be slow on a busy machine
        db.db.run(
            "insert into audit_entry (id, organization_id, action, entity_type, entity_id, actor_type, created_at)"
            " select gen_random_uuid(), %s, 'a.b', 'a', n::text, 'operator', %s + n * interval '1 s'"
            " from generate_series(1, %s) n returning 1",
            (brand.id, START, count),
        )
