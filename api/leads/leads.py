"""Leads: from the brand's own servers, signed, and from the visitors of its pages.

Source: tracking spec, section 4 "Lead" and "Browser lead capture".
"""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint, Response, request
from marshmallow import ValidationError

from adapters import clock
from adapters.clicks import visitors
from api.access import guards
from api.access.guards import Guard
from api.edge import body, idempotency
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from domain.clicks import raw_click
from models import db
from pipelines.leads import page_leads, server_leads
from schemas.leads.lead import BrowserLeadBody, LeadAnswer, LeadBody, OpaqueAnswer

blueprint = Blueprint("leads", __name__)

_BROWSER = Guard(audience="public", bucket="anonymous_tracking", open_cors=True)


@blueprint.post("/api/tracking/lead")
@operation(
    guards.SIGNED_LEADS,
    object_of(LeadAnswer()),
    takes=LeadBody(),
    refuses=(
        "400 affiliate_slug_required",
        "400 email_required",
        "400 invalid_email",
        "400 invalid_body",
        "400 affiliate_not_found",
        "400 no_active_program",
        "400 affiliate_not_active",
        "409 {gateway}_connect_active",
    ),
)
def record_lead() -> Response:
    """Record a signed lead. 200 with its id, or `deduped` if the lead is known."""
    posted = body.load(code="invalid_body")
    return idempotency.run_once(lambda: _record(posted), wakes_relay=True)


def _record(posted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    caller = guards.caller()
    recorded = server_leads.record(
        organization_id=caller.organization_id, lead=posted, is_test=caller.is_test, now=clock.now()
    )
    if recorded.lead_id is None:
        return 200, {"ok": True, "deduped": True}
    return 200, {"ok": True, "leadId": str(recorded.lead_id)}


@blueprint.post("/api/v1/r/lead/signup")
@operation(
    _BROWSER,
    object_of(OpaqueAnswer()),
    takes=BrowserLeadBody(),
    takes_as=("text/plain",),
    refuses=("400 invalid_body",),
)
def capture_lead() -> Response:
    """Record a lead from a visitor's page. 200 with the same response for every outcome."""
    try:
        posted = body.load(code="invalid_body")
    except ValidationError:
        return _opaque_answer()  # the same response as for a valid lead
    ip, agent = request.remote_addr or "", raw_click.agent_from_header(request.headers.get("User-Agent", ""))
    with db.any_org_work():
        page_leads.any_org_stage(
            lead=posted, visitor=visitors.hash_visitor(ip, agent), network=visitors.hash_network(ip), now=clock.now()
        )
    wake_relay()
    return _opaque_answer()


def _opaque_answer() -> Response:
    return Response(orjson.dumps({"ok": True}), content_type="application/json")
