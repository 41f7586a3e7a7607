"""Hooks: a workflow subscribes to one event type when it is switched on, and leaves when it is switched off.

A hook is a webhook endpoint that the platform manages: events are delivered, signed and retried as for any other. When
the target answers 410, `pipelines.webhooks.deliver` ends the hook.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.secret_key import sealing
from domain.refusals import Refused
from models import advisory_locks, ids
from models.webhooks import endpoints, hooks
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage

# A workflow has a hook of its own for each trigger, so an organization has many more of them than endpoints.
MAX_HOOKS = 200


@dataclass(frozen=True, slots=True)
class Subscription:
    """A hook, with its signing secret if it was just created; None if it already existed."""

    hook: WebhookEndpoint
    secret: str | None


def subscribe(*, organization_id: UUID, event: str, url: str, now: datetime) -> Subscription:
    """Subscribe a URL, which the caller has checked, to an event type. The same pair again returns the existing hook.

    Raises Refused 409 webhook_limit_reached.
    """
    advisory_locks.stage_endpoints_lock(organization_id)
    hook = hooks.find_hook(organization_id=organization_id, event=event, url=url)
    if hook is not None:
        return Subscription(hook, None)
    if endpoints.count(organization_id, managed_by=hooks.AUTOMATION) >= MAX_HOOKS:
        message = f"An organization may have {MAX_HOOKS} automation hooks; switch off workflows that are not needed."
        raise Refused(409, "webhook_limit_reached", message)
    hook_id, secret = ids.new_id(), manage.generate_secret()
    hook = endpoints.insert(
        endpoint_id=hook_id,
        organization_id=organization_id,
        url=url,
        events=[event],
        secret_sealed=sealing.seal(secret, belongs_to=str(hook_id)),
        managed_by=hooks.AUTOMATION,
        now=now,
    )
    return Subscription(hook, secret)
