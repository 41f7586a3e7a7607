"""Writes down who did what through the API, in the transaction of what they did.

Source: core spec, "Other resources" (audit log item).
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from flask import g, request

from api import guards
from models import audit

_LONGEST_USER_AGENT = 500


def record(
    action: str,
    entity_id: UUID,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    now: datetime,
) -> None:
    """Stage an audit entry for the caller's key; the action (`program.created`) begins with the kind of entity."""
    caller = guards.caller()
    audit.stage(
        organization_id=caller.organization_id,
        action=action,
        entity_type=action.split(".", 1)[0],
        entity_id=str(entity_id),
        actor_type="api_key",
        actor_user_id=caller.member_id,
        actor_label=f"API key {caller.key_id}",
        ip=request.remote_addr,
        user_agent=request.headers.get("User-Agent", "").replace("\x00", "")[:_LONGEST_USER_AGENT] or None,
        request_id=g.request_id,
        before=before,
        after=after,
        at=now,
    )
