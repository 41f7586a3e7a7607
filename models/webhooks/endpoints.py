"""Webhook endpoints: where an organization wants to be told, and about what."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db
from models.mutable import Moment, Table


class WebhookEndpoint(Table):
    """A URL with the events it subscribes to and its sealed signing secret.

    `failing_since` is the first failed attempt that no success has followed, `failure_told_at` when Owners were told.
    """

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    url = peewee.TextField()
    events = ArrayField(peewee.TextField, index=False)
    description = peewee.TextField(null=True)
    secret_sealed = peewee.BlobField()
    created_at = Moment()
    updated_at = Moment()
    deleted_at = Moment(null=True)
    failing_since = Moment(null=True)
    failure_told_at = Moment(null=True)


def insert(values: Mapping[str, Any]) -> None:
    """Insert an endpoint. Ask `is_url_taken` first, in the same turn."""
    WebhookEndpoint.insert(values).execute()


def update(*, organization_id: UUID, endpoint_id: UUID, changes: Mapping[str, Any]) -> None:
    """Change columns of an endpoint that was found in this transaction."""
    WebhookEndpoint.update(changes).where(
        WebhookEndpoint.organization_id == organization_id, WebhookEndpoint.id == endpoint_id
    ).execute()


def stage_turn(organization_id: UUID) -> None:
    """Let only one transaction at a time change the endpoints of an organization."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"endpoints:{organization_id}",))


def count(organization_id: UUID) -> int:
    """Return how many endpoints the organization has."""
    return int(_living(organization_id).count())


def is_url_taken(*, organization_id: UUID, url: str, besides: UUID | None = None) -> bool:
    """Say whether an endpoint of the organization, other than `besides`, has this URL."""
    endpoints = _living(organization_id).where(WebhookEndpoint.url == url)
    if besides is not None:
        endpoints = endpoints.where(WebhookEndpoint.id != besides)
    return bool(endpoints.exists())


def find(*, organization_id: UUID, endpoint_id: UUID) -> WebhookEndpoint | None:
    """Return one endpoint of the organization."""
    return _living(organization_id).where(WebhookEndpoint.id == endpoint_id).first()


def page(*, organization_id: UUID, after: tuple[datetime, UUID] | None, limit: int) -> list[WebhookEndpoint]:
    """Return up to `limit` endpoints, newest first, after the keyset position `after`."""
    endpoints = _living(organization_id)
    if after is not None:
        endpoints = endpoints.where(peewee.Tuple(WebhookEndpoint.created_at, WebhookEndpoint.id) < peewee.Tuple(*after))
    return list(endpoints.order_by(WebhookEndpoint.created_at.desc(), WebhookEndpoint.id.desc()).limit(limit))


def _living(organization_id: UUID) -> Any:
    return WebhookEndpoint.select().where(
        WebhookEndpoint.organization_id == organization_id, WebhookEndpoint.deleted_at.is_null()
    )
