"""The audit log: who did what. Rows are written once; the database refuses any change."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.ids import new_id

_INSERT = """
insert into audit_entry (id, organization_id, action, entity_type, entity_id, actor_type, actor_user_id, actor_label,
  ip, user_agent, request_id, via, client, before, after, created_at)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def stage(
    *,
    organization_id: UUID | None,
    action: str,
    entity_id: str,
    actor_type: str,
    actor_label: str | None,
    at: datetime,
    actor_user_id: UUID | None = None,
    ip: str | None = None,
    user_agent: str | None = None,
    request_id: str | None = None,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    via: str | None = None,
    client: str | None = None,
) -> None:
    """Stage one audit entry in the transaction of what it records.

    The action (`program.created`) begins with the type of the entity. `via` is the interface if it is not the plain
    API, `client` the name that the client gave there.
    """
    db.stage(
        _INSERT,
        (
            new_id(),
            organization_id,
            action,
            action.split(".", 1)[0],
            entity_id,
            actor_type,
            actor_user_id,
            actor_label,
            ip,
            user_agent,
            request_id,
            via,
            client,
            Json(before) if before is not None else None,
            Json(after) if after is not None else None,
            at,
        ),
    )
