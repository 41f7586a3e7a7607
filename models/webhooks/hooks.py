"""Hooks: endpoints that a no-code platform creates and deletes itself, each for one event type."""

from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.ids import new_id
from models.table import Rows, columns
from models.webhooks.endpoints import WebhookEndpoint

#: The `managed_by` of hooks of no-code platforms.
AUTOMATION = "automation"

_HOOKS = Rows(WebhookEndpoint)
_COLUMNS = columns(WebhookEndpoint)
_TWIN = f"""
select {_COLUMNS} from webhook_endpoint
where organization_id = %s and url = %s and events = array[%s] and deleted_at is null and managed_by is not null
"""
_REMOVE = f"""
update webhook_endpoint set deleted_at = %(at)s, updated_at = %(at)s
where organization_id = %(org)s and id = %(id)s and deleted_at is null and managed_by is not null
returning {_COLUMNS}
"""


def find_hook(*, organization_id: UUID, event: str, url: str) -> WebhookEndpoint | None:
    """Return the organization's hook for this event at this URL. Budget: 1 round trip."""
    return _HOOKS.first(_TWIN, (organization_id, url, event))


def remove(*, organization_id: UUID, hook_id: UUID, at: datetime) -> WebhookEndpoint | None:
    """Delete a hook and return it; None if no hook has this id, or it is another kind of endpoint."""
    return _HOOKS.first(_REMOVE, {"org": organization_id, "id": hook_id, "at": at})


# Among several concurrent deliveries that get this response, one deletes it and inserts the entry.
_GONE = """
with gone as (
  update webhook_endpoint set deleted_at = %(at)s, updated_at = %(at)s
  where organization_id = %(org)s and id = %(hook)s and deleted_at is null and managed_by is not null
  returning id, organization_id
)
insert into audit_entry (id, organization_id, action, entity_type, entity_id, actor_type, actor_label, before, after,
  created_at)
select %(entry)s, organization_id, 'webhook_endpoint.deleted', 'webhook_endpoint', id::text, 'system', %(label)s,
  %(before)s, %(after)s, %(at)s
from gone
"""


def stage_gone(
    *, organization_id: UUID, hook_id: UUID, before: dict[str, object], delivery_id: UUID, at: datetime
) -> None:
    """Stage the deletion of a hook whose target answered a delivery with 410 Gone, with its audit entry: one statement.

    `before` is the entry's description of it. `deliver` ends its pending deliveries without sending them.
    """
    db.stage(
        _GONE,
        {
            "org": organization_id,
            "hook": hook_id,
            "at": at,
            "entry": new_id(),
            "label": "answer 410 of the target",
            "before": Json(before),
            "after": Json({"deliveryId": str(delivery_id), "responseStatus": 410}),
        },
    )
