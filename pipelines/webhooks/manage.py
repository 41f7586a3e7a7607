"""Manages a brand's webhook endpoints.

Source: tracking spec, section 6 "Events" (who may subscribe to what, the Test action, delivery history).
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from adapters.safe_http import addresses, client
from adapters.secret_key import sealing
from domain import jobs, statuses
from domain.refusals import Refused, not_found
from domain.webhooks import events
from models import advisory_locks, ids
from models.webhooks import endpoints, outbox, redeliveries
from models.webhooks.endpoints import WebhookEndpoint
from pipelines import work
from pipelines.webhooks import deliver, emit

# Every event of an organization is copied to every endpoint that asks for it, in the transaction of the sale.
MAX_ENDPOINTS = 20

_EVERYTHING = "*"
_GENERIC_TEST = "test"


@dataclass(frozen=True, slots=True)
class EndpointWithSecret:
    """An endpoint with its signing secret, which is readable only when it is created or rotated."""

    endpoint: WebhookEndpoint
    secret: str


@dataclass(frozen=True, slots=True)
class TestDelivery:
    """A queued test event."""

    delivery_id: UUID
    event_id: UUID


def find_refusal(url: str, *, field: str = "url") -> Refused | None:
    """Return the refusal of a URL, which was sent as `field`; None if it is allowed. Queries DNS: not in a transaction.

    400 invalid_url, https_required, url_not_allowed.
    """
    try:
        client.check_url(url, deliver.url_policy())
    except addresses.UrlRefused as refused:
        return Refused(400, refused.code, refused.message, field=field)
    return None


def strip_query(url: str) -> str:
    """Return a URL without its query, which may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def generate_secret() -> str:
    """Return a new random signing secret."""
    return f"whsec_{secrets.token_urlsafe(32)}"


def create(*, organization_id: UUID, body: Mapping[str, Any], now: datetime) -> EndpointWithSecret:
    """Create an endpoint. `body` is `schemas.webhooks.webhook.EndpointBody` loaded, its URL checked.

    Raises Refused 400: webhook_limit_reached, endpoint_already_exists.
    """
    advisory_locks.stage_endpoints_lock(organization_id)
    if endpoints.count(organization_id) >= MAX_ENDPOINTS:
        raise Refused(400, "webhook_limit_reached", f"An organization may have {MAX_ENDPOINTS} webhook endpoints.")
    _check_url_is_free(organization_id, body["url"])
    endpoint_id, secret = ids.new_id(), generate_secret()
    endpoint = endpoints.insert(
        **body,
        endpoint_id=endpoint_id,
        organization_id=organization_id,
        secret_sealed=sealing.seal(secret, belongs_to=str(endpoint_id)),
        now=now,
    )
    return EndpointWithSecret(endpoint, secret)


def find(*, organization_id: UUID, endpoint_id: UUID) -> WebhookEndpoint:
    """Return an endpoint of the organization, or raise Refused 404 not_found."""
    endpoint = endpoints.find(organization_id=organization_id, endpoint_id=endpoint_id)
    if endpoint is None:
        raise not_found("webhook endpoint", endpoint_id)
    return endpoint


def change(*, endpoint: WebhookEndpoint, changes: Mapping[str, Any], now: datetime) -> WebhookEndpoint:
    """Change an endpoint's URL, events or description and return the updated row; the URL is checked.

    Raises Refused: 400 endpoint_already_exists; 409 endpoint_is_managed.
    """
    _check_not_managed(endpoint)
    if "url" in changes:
        advisory_locks.stage_endpoints_lock(endpoint.organization_id)
        _check_url_is_free(endpoint.organization_id, changes["url"], besides=endpoint.id)
        if changes["url"] != endpoint.url:  # an outage of the old URL is not one of the new URL
            changes = {**changes, "failing_since": None, "failure_told_at": None}
    return _update(endpoint, {**changes, "updated_at": now})


def remove(*, endpoint: WebhookEndpoint, now: datetime) -> None:
    """Delete an endpoint; its history stays, and pending deliveries are not sent."""
    _update(endpoint, {"deleted_at": now, "updated_at": now})


def rotate_secret(*, endpoint: WebhookEndpoint, now: datetime) -> EndpointWithSecret:
    """Give an endpoint a new signing secret; the old one signs nothing from now on.

    Raises Refused 409 endpoint_is_managed.
    """
    _check_not_managed(endpoint)
    secret = generate_secret()
    secret_sealed = sealing.seal(secret, belongs_to=str(endpoint.id))
    return EndpointWithSecret(_update(endpoint, {"secret_sealed": secret_sealed, "updated_at": now}), secret)


def send_test(*, endpoint: WebhookEndpoint, type: str, now: datetime) -> TestDelivery:
    """Queue a sample event to this endpoint alone.

    Raises Refused 400: unknown_event, sample_not_available, event_not_subscribed. A hook only gets its own event type:
    a workflow cannot process the generic test.
    """
    _check_testable(endpoint, type)
    test = TestDelivery(delivery_id=ids.new_id(), event_id=ids.new_id())
    _stage_test(endpoint, test, type, now)
    work.enqueue(
        jobs.WEBHOOK_DELIVER,
        organization_id=endpoint.organization_id,
        fair_key=str(endpoint.id),
        delivery_id=test.delivery_id,
        event_id=test.event_id,
    )
    return test


def redeliver(*, endpoint: WebhookEndpoint, delivery_id: UUID, now: datetime) -> None:
    """Queue one more attempt of a delivery, under its own id: a settled one is reopened, a waiting one is sent at once.

    Raises Refused: 404 not_found; 409 invalid_status_transition while an attempt is due or being made.
    """
    organization_id = endpoint.organization_id
    row = outbox.lock_delivery(organization_id=organization_id, endpoint_id=endpoint.id, delivery_id=delivery_id)
    if row is None:
        raise not_found("delivery", delivery_id)
    if row.status == statuses.DeliveryStatus.Pending:
        _make_due_now(endpoint, row, now)
        return
    outbox.stage_reopen(row, organization_id=organization_id, at=now)
    work.enqueue(
        jobs.WEBHOOK_DELIVER,
        organization_id=organization_id,
        fair_key=str(endpoint.id),
        delivery_id=delivery_id,
        event_id=row.event_id,
        once=1,
    )


def _make_due_now(endpoint: WebhookEndpoint, row: outbox.Delivery, now: datetime) -> None:
    organization_id, endpoint_id = endpoint.organization_id, endpoint.id
    if not redeliveries.hasten(row, organization_id=organization_id, endpoint_id=endpoint_id, now=now):
        raise Refused(409, "invalid_status_transition", "An attempt of the delivery is due or being made.")


def _check_not_managed(endpoint: WebhookEndpoint) -> None:
    """Refuse to change a hook: its workflow would not notice, and would wait for events that no longer arrive."""
    if endpoint.managed_by is not None:
        message = "A workflow of a no-code platform manages this endpoint. Change the workflow, or delete the endpoint."
        raise Refused(409, "endpoint_is_managed", message)


def _check_url_is_free(organization_id: UUID, url: str, *, besides: UUID | None = None) -> None:
    if endpoints.is_url_taken(organization_id=organization_id, url=url, except_id=besides):
        raise Refused(400, "endpoint_already_exists", "An endpoint of the organization has this URL.", field="url")


def _update(endpoint: WebhookEndpoint, changes: Mapping[str, Any]) -> WebhookEndpoint:
    return endpoints.update(organization_id=endpoint.organization_id, endpoint_id=endpoint.id, changes=changes)


def _check_testable(endpoint: WebhookEndpoint, type: str) -> None:
    if type == _GENERIC_TEST and endpoint.managed_by is None:
        return
    if type in events.TYPES and type not in events.TESTABLE:
        message = f"There is no sample of {type}. Send the generic test: `test`."
        raise Refused(400, "sample_not_available", message, field="type", valid=[_GENERIC_TEST, *events.TESTABLE])
    if type not in (_GENERIC_TEST, *events.TESTABLE):
        message = f"There is no event {type!r}. Send `test`, or one of: {', '.join(events.TESTABLE)}."
        raise Refused(
            400, "unknown_event", message, field="type", invalid=[type], valid=[_GENERIC_TEST, *events.TESTABLE]
        )
    if type not in endpoint.events and _EVERYTHING not in endpoint.events:
        raise Refused(400, "event_not_subscribed", f"The endpoint does not subscribe to {type}.", field="type")


def _stage_test(endpoint: WebhookEndpoint, test: TestDelivery, type: str, now: datetime) -> None:
    organization_id = endpoint.organization_id
    body = emit.serialize(
        event_uuid=test.event_id, organization_id=organization_id, type=type, data=events.sample(type), at=now
    )
    outbox.stage_event_alone(
        organization_id=organization_id, event_id=test.event_id, event_type=type, body=body, at=now
    )
    outbox.stage_delivery(
        organization_id=organization_id,
        delivery_id=test.delivery_id,
        event_id=test.event_id,
        endpoint_id=endpoint.id,
        event_type=type,
        at=now,
    )
