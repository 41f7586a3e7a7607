"""Begin, resume and cancel the reading of a switch."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from api.switches import records
from models.switches.switches import Switch
from pipelines.switches import changes
from schemas.switches.switch import EmptyBody

blueprint = Blueprint("switch_reading", __name__)


@blueprint.post("/api/v1/switches/<switch_id>/read")
@operation(
    records.WRITE,
    object_of(records.RECORD),
    status=202,
    takes=EmptyBody(),
    refuses=(
        "400 invalid_request",
        "404 not_found",
        "409 mapping_missing",
        "409 currency_required",
        "409 switch_not_readable",
    ),
)
def read_switch(switch_id: str) -> Response:
    """Read the account, or read it again, then judge every row. 202; nothing is written to the brand's records."""
    return _act(switch_id, 202, "switch.read", changes.start_reading)


@blueprint.post("/api/v1/switches/<switch_id>/resume")
@operation(
    records.WRITE,
    object_of(records.RECORD),
    status=202,
    takes=EmptyBody(),
    refuses=("400 invalid_request", "404 not_found", "409 switch_not_paused"),
)
def resume_switch(switch_id: str) -> Response:
    """Go on with a paused switch where it stopped. 202 with the switch."""
    return _act(switch_id, 202, "switch.changed", changes.resume)


@blueprint.post("/api/v1/switches/<switch_id>/cancel")
@operation(
    records.WRITE,
    object_of(records.RECORD),
    takes=EmptyBody(),
    refuses=("400 invalid_request", "404 not_found", "409 switch_not_cancellable"),
)
def cancel_switch(switch_id: str) -> Response:
    """Cancel a switch before it writes: what was read and its key are erased. 200 with the switch."""
    return _act(switch_id, 200, "switch.cancelled", changes.cancel)


def _act(switch_id: str, status: int, action: str, change: Callable[..., Switch]) -> Response:
    id = records.parse_id(switch_id)
    body.load_optional()
    return idempotency.run_once(lambda: (status, act_on(id, action, change)), wakes_relay=True)


def act_on(switch_id: UUID, action: str, change: Callable[..., Switch], **arguments: Any) -> dict[str, Any]:
    """Change a switch, record the audit entry and return the switch as JSON. Raises Refused as `change` does."""
    now = clock.now()
    before = records.serialize(switch_id)
    change(organization_id=guards.organization_id(), switch_id=switch_id, now=now, **arguments)
    record = records.serialize(switch_id)
    audit.record(action, switch_id, before=records.audit_values(before), after=records.audit_values(record), now=now)
    return record
