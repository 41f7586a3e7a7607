"""Audit log entries of the operator's commands."""

from collections.abc import Mapping
from uuid import UUID

from adapters import clock
from models.organization import audit


def record(action: str, after: Mapping[str, object], *, about: object, organization_id: UUID | None = None) -> None:
    """Stage the audit entry of a command: `about` is the entity's id, `after` its new values."""
    audit.stage(
        organization_id=organization_id,
        action=action,
        entity_id=str(about),
        actor_type="operator",
        actor_label="flask",
        after=after,
        at=clock.now(),
    )
