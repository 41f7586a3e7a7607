"""Fraud events: findings of the rules in clicks and leads, the brand's decisions about them, and bans.

Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.affiliates import serializers
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from models import db
from models.fraud import events
from pipelines.affiliates import management
from pipelines.fraud import ban, decisions, summary
from schemas.affiliates.affiliate import AffiliateRecord, Nothing
from schemas.fraud import FraudEventChange, FraudEventRecord, FraudEventsQuery, FraudSummary, SummaryQuery

blueprint = Blueprint("fraud_events", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_SUMMARY = Guard(audience="brand", role=Role.Manager, plan=plans.Tier.Starter)
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)

_RECORD = FraudEventRecord()
_NUMBERS = FraudSummary()
_AFFILIATE = AffiliateRecord()
_MAX_EVENTS = 500


@blueprint.get("/api/v1/fraud-events")
@operation(_READ, array(_RECORD), asks=FraudEventsQuery(), may_lag="answer")
def list_fraud_events() -> Response:
    """List up to 500 fraud events, newest first; the open ones unless `status` says otherwise."""
    query = body.query()
    status = None if query["status"] == "all" else query["status"]
    with db.unit_of_work(guards.organization_id()):
        rows = events.list_recent(
            organization_id=guards.organization_id(),
            program_id=query["program_id"],
            status=status,
            limit=_MAX_EVENTS,
        )
    return jsonify(_RECORD.dump(rows, many=True))


@blueprint.get("/api/v1/fraud-events/summary")
@operation(
    _SUMMARY,
    object_of(_NUMBERS),
    asks=SummaryQuery(),
    refuses=("400 program_id_required", "404 not_found"),
    may_lag="answer",
)
def get_fraud_summary() -> Mapping[str, object]:
    """Show the clicks and leads that the rules blocked for a program in the last days, and their cost if counted."""
    query = body.query()
    program_id = path.required_program(query["program_id"])
    with db.unit_of_work(guards.organization_id()):
        numbers = summary.summarize(
            organization_id=guards.organization_id(), program_id=program_id, days=query["days"], now=clock.now()
        )
    return _NUMBERS.dump(numbers)


@blueprint.patch("/api/v1/fraud-events/<event_id>")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=FraudEventChange(),
    refuses=("404 not_found", "409 invalid_status_transition"),
)
def close_fraud_event(event_id: str) -> Response:
    """Resolve or dismiss an open event. 200 with the event."""
    wanted_id = path.uuid(event_id, "fraud event")
    with db.unit_of_work(guards.organization_id()):
        decisions.find(organization_id=guards.organization_id(), event_id=wanted_id)
    action = body.load()["action"]
    return idempotency.run_once(lambda: _close(wanted_id, action))


def _close(event_id: UUID, action: str) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    event = decisions.find(organization_id=guards.organization_id(), event_id=event_id)
    before = _RECORD.dump(event)
    closed = decisions.close(event=event, action=action, by=guards.caller().member_id, now=now)
    after: Mapping[str, object] = _RECORD.dump(closed)
    audit.record(f"fraud_event.{closed.status}", event_id, before=before, after=after, now=now)
    return 200, after


@blueprint.post("/api/v1/fraud-events/ban-affiliate/<affiliate_id>")
@operation(_WRITE, object_of(_AFFILIATE), takes=Nothing(), refuses=("404 not_found",))
def ban_affiliate(affiliate_id: str) -> Response:
    """Ban an affiliate: they earn nothing from now on. 200 with the affiliate, also if already banned."""
    wanted_id = path.uuid(affiliate_id, "affiliate")
    with db.unit_of_work(guards.organization_id()):
        management.find(organization_id=guards.organization_id(), affiliate_id=wanted_id)
    body.load_optional()
    return idempotency.run_once(lambda: _ban(wanted_id))


def _ban(affiliate_id: UUID) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = management.lock(organization_id=guards.organization_id(), affiliate_id=affiliate_id)
    links = serializers.list_links(affiliate_id)
    after = ban.ban(affiliate=before, now=now)
    serializers.record_change("affiliate.banned", before, after, links, now=now)
    return 200, serializers.serialize(after, links)
