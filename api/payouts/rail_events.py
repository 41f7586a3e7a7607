"""Receives the events of payout rails about payments; only the rail's signature makes them credible.

Source: tracking spec, section 6 (payout.paid, payout.failed); the rails' own documentation.
"""

from collections.abc import Mapping
from typing import cast

from flask import Blueprint, request

from adapters import clock
from api.access.guards import KIB, Guard
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from models import db
from pipelines.payouts import take_event
from schemas.payouts.rail_event import RailEventAnswerRecord

blueprint = Blueprint("rail_events", __name__)

_RAIL = Guard(audience="public", bucket="s2s", max_body_bytes=256 * KIB)
_TAKEN = RailEventAnswerRecord()


@blueprint.post("/api/rails/<rail>/events")
@operation(_RAIL, object_of(_TAKEN), refuses=("400 bad_signature", "404 not_found", "503 rail_unavailable"))
def take_rail_event(rail: str) -> dict[str, bool]:
    """Accept an event of the rail `processor`, `wallet` or `global-payouts`, in the rail's own form and signature.

    200 also for repeated events and for unknown payments, so that the rail does not send them again.
    """
    headers = cast(Mapping[str, str], request.headers)  # case-insensitive, unlike a dict
    event = take_event.parse(rail, headers, request.get_data(cache=True))
    if event is not None:
        with db.any_org_work():
            take_event.any_org_apply(rail, event, now=clock.now())
        wake_relay()
    return {"ok": True}
