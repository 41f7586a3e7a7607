"""The undo of a completed switch."""

from collections.abc import Mapping

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.edge import body, idempotency
from api.edge.operations import object_of, operation
from api.switches import reading, records
from models import db
from pipelines.switches import undoing
from schemas.switches.switch import EmptyBody
from schemas.switches.undo import SwitchUndoPreview

blueprint = Blueprint("switch_undo", __name__)

_PREVIEW = SwitchUndoPreview()


@blueprint.get("/api/v1/switches/<switch_id>/undo")
@operation(records.READ, object_of(_PREVIEW), refuses=("404 not_found", "409 switch_not_completed"))
def preview_switch_undo(switch_id: str) -> Mapping[str, object]:
    """Show what an undo would remove and keep now, and why."""
    id, organization_id = records.parse_id(switch_id), guards.organization_id()
    with db.unit_of_work(organization_id):
        records.require(id)
        record: Mapping[str, object] = _PREVIEW.dump(
            undoing.preview(organization_id=organization_id, switch_id=id, now=clock.now())
        )
        return record


@blueprint.post("/api/v1/switches/<switch_id>/undo")
@operation(
    records.RUN,
    object_of(records.RECORD),
    status=202,
    takes=EmptyBody(),
    refuses=(
        "400 invalid_request",
        "404 not_found",
        "409 undo_expired",
        "409 switch_not_completed",
        "409 switch_already_undone",
        "409 migration_already_in_progress",
    ),
)
def undo_switch(switch_id: str) -> Response:
    """Take a completed switch back, but for what has been used since. 202 with the switch, Undoing."""
    id = records.parse_id(switch_id)
    body.load_optional()
    return idempotency.run_once(lambda: (202, reading.act_on(id, "switch.undone", undoing.start)), wakes_relay=True)
