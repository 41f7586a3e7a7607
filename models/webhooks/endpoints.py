"""Webhook endpoints: the URLs of an organization, each with the events that it receives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.table import Table


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A URL with the events it subscribes to and its sealed signing secret.

    `managed_by` is the platform that creates and deletes it, None for the brand's own; such a hook has one event.
    `failing_since` is the first failed attempt since the last success, `failure_told_at` when Owners were notified.
    """

    id: UUID
    organization_id: UUID
    url: str
    events: tuple[str, ...]
    description: str | None
    secret_sealed: bytes
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    failing_since: datetime | None
    failure_told_at: datetime | None
    managed_by: str | None


_TABLE = Table("webhook_endpoint", WebhookEndpoint)

_INSERT = f"""
insert into webhook_endpoint (id, organization_id, url, events, description, secret_sealed, managed_by, created_at,
  updated_at)
values (%(id)s, %(org)s, %(url)s, %(events)s, %(description)s, %(secret_sealed)s, %(managed_by)s, %(now)s, %(now)s)
returning {_TABLE.columns}
"""


def insert(
    *,
    endpoint_id: UUID,
    organization_id: UUID,
    url: str,
    events: Sequence[str],
    description: str | None = None,
    secret_sealed: bytes,
    managed_by: str | None = None,
    now: datetime,
) -> WebhookEndpoint:
    """Insert an endpoint and return it. Call `is_url_taken` (hooks: `hooks.find_hook`) first, under the same lock."""
    endpoint = _TABLE.first(
        _INSERT,
        {
            "id": endpoint_id,
            "org": organization_id,
            "url": url,
            "events": list(events),
            "description": description,
            "secret_sealed": secret_sealed,
            "managed_by": managed_by,
            "now": now,
        },
    )
    assert endpoint is not None  # otherwise the statement has raised
    return endpoint


def update(*, organization_id: UUID, endpoint_id: UUID, changes: Mapping[str, Any]) -> WebhookEndpoint:
    """Change columns of an endpoint that was read in this transaction, and return it as it is now."""
    endpoint = _TABLE.update({"organization_id": organization_id, "id": endpoint_id}, changes)
    assert endpoint is not None  # endpoints are only marked as deleted
    return endpoint


_COUNT = """
select count(*) from webhook_endpoint
where organization_id = %s and deleted_at is null and managed_by is not distinct from %s
"""


def count(organization_id: UUID, *, managed_by: str | None = None) -> int:
    """Return how many endpoints the organization has: its own, or those that `managed_by` created."""
    row = db.row(_COUNT, (organization_id, managed_by))
    assert row is not None
    return int(row[0])


_TWINS = """
select from webhook_endpoint
where organization_id = %s and url = %s and deleted_at is null and managed_by is null and id is distinct from %s
"""


def is_url_taken(*, organization_id: UUID, url: str, except_id: UUID | None = None) -> bool:
    """Return whether one of the organization's own endpoints, other than `except_id`, has this URL."""
    return bool(db.run(_TWINS, (organization_id, url, except_id)))


_FIND = f"""
select {_TABLE.columns} from webhook_endpoint where organization_id = %s and id = %s and deleted_at is null
"""


def find(*, organization_id: UUID, endpoint_id: UUID) -> WebhookEndpoint | None:
    """Return one endpoint of the organization."""
    return _TABLE.first(_FIND, (organization_id, endpoint_id))


_PAGE = f"""
select {_TABLE.columns} from webhook_endpoint
where organization_id = %(org)s and deleted_at is null
  and (%(managed)s::boolean is null or (managed_by is not null) = %(managed)s)
  and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s))
order by created_at desc, id desc
limit %(limit)s
"""


def page(
    *, organization_id: UUID, after: tuple[datetime, UUID] | None, limit: int, managed: bool | None = None
) -> list[WebhookEndpoint]:
    """Return up to `limit` endpoints, newest first, after the keyset position `after`.

    `managed` True returns only hooks, False only the organization's own.
    """
    before, before_id = after or (None, None)
    params = {"org": organization_id, "before": before, "before_id": before_id, "limit": limit, "managed": managed}
    return _TABLE.all(_PAGE, params)
