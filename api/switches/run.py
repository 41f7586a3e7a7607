"""The confirmed run of a switch: from here on the brand's records are written."""

from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from api.access import guards, login_age
from api.edge import body, idempotency
from api.edge.operations import object_of, operation
from api.switches import reading, records
from pipelines.switches import running
from schemas.switches.switch import SwitchRun

blueprint = Blueprint("switch_run", __name__)


@blueprint.post("/api/v1/switches/<switch_id>/run")
@operation(
    records.RUN,
    object_of(records.RECORD),
    status=202,
    takes=SwitchRun(),
    refuses=(
        "400 invalid_request",
        "403 fresh_login_required",
        "404 not_found",
        "409 preview_changed",
        "409 switch_not_ready",
        "409 migration_already_in_progress",
    ),
)
def run_switch(switch_id: str) -> Response:
    """Write what the preview shows, after its totals were repeated. 202 with the switch, Writing.

    An Owner does it; if unpaid commissions become payable, one who has just logged in. It sends no email.
    """
    id, values = records.parse_id(switch_id), body.load()
    return idempotency.run_once(lambda: (202, _run(id, values["confirm"])), wakes_relay=True)


def _run(switch_id: UUID, confirm: dict[str, Any]) -> dict[str, Any]:
    if records.require(switch_id).options.get("unpaid") == "payable":
        login_age.check_member(guards.caller(), within_s=guards.FRESH_S)
    return reading.act_on(switch_id, "switch.run", running.start, member_id=guards.caller().member_id, confirm=confirm)
