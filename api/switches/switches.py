"""Switches from another affiliate system: list, connect, change.

The source is called before anything is written, and outside of any transaction.
Source: the switch-over rules, "Routes".
"""

from collections.abc import Mapping
from dataclasses import replace

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.edge import audit, body, idempotency, paging
from api.edge.operations import object_of, operation, page
from api.switches import reading, records
from models import db
from models.switches import listing
from pipelines.switches import changes, connecting
from pipelines.switches.connecting import ProvedAccount
from schemas.switches.switch import SwitchBody, SwitchChanges, SwitchesQuery

blueprint = Blueprint("switches", __name__)

_CONNECT = replace(records.WRITE, bucket="import")
_ASKS_SOURCE = ("422 switch_credentials_refused", "503 switch_source_unreachable")


@blueprint.get("/api/v1/switches")
@operation(records.READ, page(records.RECORD), asks=SwitchesQuery())
def list_switches() -> Mapping[str, object]:
    """List the organization's switches, newest first; filtered by source and state."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = listing.list_page(
            organization_id=guards.organization_id(),
            source=query["source"],
            state=query["state"],
            **page_request.window,
        )
        return paging.serialize_page(page_request, rows, lambda shown: records.serialize_all(list(shown)))


@blueprint.get("/api/v1/switches/<switch_id>")
@operation(records.READ, object_of(records.RECORD), refuses=("404 not_found",))
def get_switch(switch_id: str) -> Mapping[str, object]:
    """Show one switch: its state, mapping, options and progress."""
    id = records.parse_id(switch_id)
    with db.unit_of_work(guards.organization_id()):
        return records.serialize(id)


@blueprint.post("/api/v1/switches")
@operation(
    _CONNECT,
    object_of(records.RECORD),
    status=201,
    takes=SwitchBody(),
    refuses=("400 invalid_request", *_ASKS_SOURCE, "409 switch_in_progress"),
)
def create_switch() -> Response:
    """Connect an account of another affiliate system after it accepted the credentials. 201 with the switch.

    Nothing is read or written yet. An organization has one open switch at a time.
    """
    values = body.load()
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    with db.unit_of_work(guards.organization_id()):
        connecting.check_none_open(organization_id=guards.organization_id())
    proved = connecting.prove_new(source=values["source"], values=values["credentials"])
    return idempotency.run_once(lambda: _store(proved))


def _store(proved: ProvedAccount) -> idempotency.Answer:
    now, caller = clock.now(), guards.caller()
    switch = connecting.store(proved, organization_id=caller.organization_id, member_id=caller.member_id, now=now)
    record = records.serialize(switch.id)
    audit.record("switch.connected", switch.id, after=records.audit_values(record), now=now)
    return 201, record


@blueprint.patch("/api/v1/switches/<switch_id>")
@operation(
    records.WRITE,
    object_of(records.RECORD),
    takes=SwitchChanges(),
    refuses=(
        "400 invalid_request",
        "404 not_found",
        "404 program_not_found",
        "409 switch_not_changeable",
        *_ASKS_SOURCE,
    ),
)
def change_switch(switch_id: str) -> Response:
    """Change mapping, options, cut-over or credentials. A switch that is Ready is judged again, without reading again.

    Only what is sent changes. New credentials are stored after the source accepted them.
    """
    id, values = records.parse_id(switch_id), body.load()
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    proved = changes.prove_credentials(
        organization_id=guards.organization_id(), switch_id=id, body=values, now=clock.now()
    )
    return idempotency.run_once(
        lambda: (200, reading.act_on(id, "switch.changed", changes.change, body=values, proved=proved)),
        wakes_relay=True,
    )
