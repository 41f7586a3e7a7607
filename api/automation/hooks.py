"""Hooks: a workflow subscribes when it is switched on and unsubscribes when it is switched off, perhaps twice."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.refusals import Refused
from models import db
from models.webhooks import hooks
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.automation.hooks import subscribe
from pipelines.webhooks import manage
from schemas.automation.hook import AutomationHookRecord, HookBody
from schemas.webhooks.webhook import WebhookEndpointRecord

blueprint = Blueprint("automation_hooks", __name__)

_SUBSCRIBE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)
# A workflow can be switched off on any plan.
_LEAVE = Guard(audience="brand", scope="read_write")

_RECORD = AutomationHookRecord()
_AUDITED = WebhookEndpointRecord()


@blueprint.post("/api/v1/automation/hooks")
@operation(
    _SUBSCRIBE,
    object_of(_RECORD),
    shows_secret=True,
    status=201,
    gives_at=(200,),
    takes=HookBody(),
    refuses=(
        "400 invalid_url",
        "400 https_required",
        "400 url_not_allowed",
        "400 unknown_event",
        "409 webhook_limit_reached",
    ),
)
def create_automation_hook() -> Response:
    """Subscribe a URL to a trigger event. 201 with its signing secret; 200 without it if the hook exists already."""
    requested = body.load()
    refusal = manage.find_refusal(requested["target_url"], field="targetUrl")
    return idempotency.run_once(lambda: _subscribe(requested, refusal))


def _subscribe(requested: Mapping[str, Any], refusal: Refused | None) -> idempotency.Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    result = subscribe(
        organization_id=guards.organization_id(), event=requested["event"], url=requested["target_url"], now=now
    )
    if result.secret is None:
        return 200, _serialize(result.hook)
    audit.record("webhook_endpoint.created", result.hook.id, after=_AUDITED.dump(result.hook), now=now)
    return 201, {**_serialize(result.hook), "secret": result.secret}


@blueprint.delete("/api/v1/automation/hooks/<hook_id>")
@operation(_LEAVE, status=204)
def delete_automation_hook(hook_id: str) -> Response:
    """Delete a hook. 204, also if it does not exist: switching a workflow off twice does not fail."""
    try:
        wanted_id = path.uuid(hook_id, "hook")
    except Refused:
        return Response(status=204)
    now = clock.now()
    with db.unit_of_work(guards.organization_id()):
        removed = hooks.remove(organization_id=guards.organization_id(), hook_id=wanted_id, at=now)
        if removed is not None:
            audit.record("webhook_endpoint.deleted", removed.id, before=_AUDITED.dump(removed), now=now)
    return Response(status=204)


def _serialize(hook: WebhookEndpoint) -> dict[str, object]:
    (event,) = hook.events
    return _RECORD.dump({"id": hook.id, "event": event, "created_at": hook.created_at})
