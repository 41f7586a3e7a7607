"""Hooks: a workflow subscribes to one event type when it is switched on, and leaves when it is switched off.

A hook is a webhook endpoint that the platform manages: it is told, signed for and tried again like every other. Its end
when the target answers 410 is in `pipelines.webhooks.deliver`.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters import sealing
from domain.refused import Refused
from models import advisory_locks, ids
from models.webhooks import endpoints, hooks
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage

# A workflow has a hook of its own for each trigger, so an organization has many more of them than endpoints.
MOST_HOOKS = 200


@dataclass(frozen=True, slots=True)
class Subscription:
    """A hook, with its signing secret at the one moment when it is made; None where it stood already."""

    hook: WebhookEndpoint
    secret: str | None


def subscribe(*, organization_id: UUID, event: str, url: str, now: datetime) -> Subscription:
    """Have a URL, which is checked, told of an event type. The same pair again is the hook that stands.

    Raises Refused 409 webhook_limit_reached.
    """
    advisory_locks.stage_endpoints_lock(organization_id)
    found = hooks.find_hook(organization_id=organization_id, event=event, url=url)
    if found is not None:
        return Subscription(found, None)
    if endpoints.count(organization_id, managed_by=hooks.AUTOMATION) >= MOST_HOOKS:
        message = f"An organization may have {MOST_HOOKS} automation hooks; switch off workflows that are not needed."
        raise Refused(409, "webhook_limit_reached", message)
    hook_id, secret = ids.new_id(), manage.generate_secret()
    made = endpoints.insert(
        endpoint_id=hook_id,
        organization_id=organization_id,
        url=url,
        events=[event],
        secret_sealed=sealing.seal(secret, belongs_to=str(hook_id)),
        managed_by=hooks.AUTOMATION,
        now=now,
    )
    return Subscription(made, secret)
