"""Hooks: a workflow subscribes when it is switched on, and leaves when it is switched off. Both may come twice."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, path
from api.edge.operations import one, operation
from domain.organization import plans
from domain.refused import Refused
from models import db
from models.webhooks import hooks
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.automation.hooks import subscribe
from pipelines.webhooks import manage
from schemas.automation.hook import HookBody, HookRecord
from schemas.webhooks.webhook import EndpointRecord

blueprint = Blueprint("automation_hooks", __name__)

_SUBSCRIBE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter)
# A workflow can be switched off whatever became of the plan.
_LEAVE = Guard(audience="brand", scope="read_write")

_RECORD = HookRecord()
_AUDITED = EndpointRecord()


@blueprint.post("/api/v1/automation/hooks")
@operation(
    _SUBSCRIBE,
    one(_RECORD),
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
    """Have a URL told of a trigger event. 201 with its signing secret; 200 without it where the hook stands already."""
    wanted = body.load()
    refusal = manage.find_refusal(wanted["target_url"], field="targetUrl")
    return answers.once(lambda: _subscribe(wanted, refusal))


def _subscribe(wanted: Mapping[str, Any], refusal: Refused | None) -> answers.Answer:
    if refusal is not None:
        raise refusal
    now = clock.now()
    made = subscribe(organization_id=guards.organization_id(), event=wanted["event"], url=wanted["target_url"], now=now)
    if made.secret is None:
        return 200, _shown(made.hook)
    audit.record("webhook_endpoint.created", made.hook.id, after=_AUDITED.dump(made.hook), now=now)
    return 201, {**_shown(made.hook), "secret": made.secret}


@blueprint.delete("/api/v1/automation/hooks/<hook_id>")
@operation(_LEAVE, status=204)
def delete_automation_hook(hook_id: str) -> Response:
    """Delete a hook. 204, also where it is gone already: a workflow that is switched off twice does not fail."""
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


def _shown(hook: WebhookEndpoint) -> dict[str, object]:
    (event,) = hook.events
    shown: dict[str, object] = _RECORD.dump({"id": hook.id, "event": event, "created_at": hook.created_at})
    return shown
