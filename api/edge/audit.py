"""Audit entries of changes through the API, written in the transaction of the change.

Source: core spec, "Other resources" (audit log item).
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from flask import g, request

from api.access import guards
from api.edge import internal_requests
from models.organization import audit

_LONGEST_USER_AGENT = 500


def record(
    action: str,
    entity_id: UUID | str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    now: datetime,
    organization_id: UUID | None = None,
) -> None:
    """Stage an audit entry for the caller; the action (`program.created`) begins with the kind of entity.

    `organization_id` is for callers without an organization: affiliates, operators and anonymous callers. Changes of an
    operator to the installation belong to no organization.
    """
    actor_type, user_id, label = _actor()
    channel = internal_requests.channel()
    audit.stage(
        organization_id=organization_id or (None if "operator" in g else guards.organization_id()),
        action=action,
        entity_id=str(entity_id),
        actor_type=actor_type,
        actor_user_id=user_id,
        actor_label=label,
        ip=request.remote_addr,
        user_agent=request.headers.get("User-Agent", "").replace("\x00", "")[:_LONGEST_USER_AGENT] or None,
        request_id=g.request_id,
        via=channel.via if channel else None,
        client=channel.client if channel else None,
        before=before,
        after=after,
        at=now,
    )


def _actor() -> tuple[str, UUID | None, str | None]:
    if "caller" in g:
        caller = guards.caller()
        return caller.kind, caller.member_id, caller.label
    if "account" in g:
        return "affiliate", None, guards.account().email
    if "operator" in g:
        return "operator", None, guards.operator().name
    if "viewer" in g:
        return "affiliate", None, guards.viewer().label
    return "public", None, None
