"""The endpoint that an address names."""

from api.access import guards
from api.edge import path
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage


def endpoint(endpoint_id: str) -> WebhookEndpoint:
    """Return the endpoint of the caller's organization, or raise Refused 404 not_found."""
    wanted_id = path.uuid(endpoint_id, "webhook endpoint")
    return manage.find(organization_id=guards.organization_id(), endpoint_id=wanted_id)
