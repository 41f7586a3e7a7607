"""The timeline of an affiliate: what happened to them, newest first. An addition to the interface."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint

from api.access import guards
from api.access.guards import Guard
from api.edge import body, paging, path
from api.edge.operations import operation, page
from domain.affiliates import timeline
from domain.affiliates.timeline import StoredEvent
from domain.organization import actors, plans
from models import db
from models.affiliates import timeline as timelines
from pipelines.affiliates import management
from schemas.affiliates.timeline import TimelineEventRecord
from schemas.paging import PageQuery

blueprint = Blueprint("affiliate_timeline", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_RECORD = TimelineEventRecord()


@blueprint.get("/api/v1/affiliates/<affiliate_id>/timeline")
@operation(_READ, page(_RECORD), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_affiliate_events(affiliate_id: str) -> Mapping[str, object]:
    """List what happened to an affiliate, newest first: decisions, changes, links, deals, first sale, payouts.

    Who did it is known from the audit log. Budget: 1 statement, whatever the number of clicks and conversions.
    """
    affiliate_uuid, organization_id = path.uuid(affiliate_id, "affiliate"), guards.organization_id()
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(organization_id):
        events = timelines.list_events(
            organization_id=organization_id, affiliate_id=affiliate_uuid, **page_request.window
        )
        if not events:
            management.find(organization_id=organization_id, affiliate_id=affiliate_uuid)
    return paging.serialize_page(page_request, events, _serialize, time_field="at")


def _serialize(events: Sequence[StoredEvent]) -> list[Any]:
    is_for_key = guards.caller().is_integration
    return [_RECORD.dump(_to_record(event, is_for_key=is_for_key)) for event in events]


def _to_record(event: StoredEvent, *, is_for_key: bool) -> Mapping[str, object]:
    label = actors.label_for_keys(event.actor_type, event.actor_label) if is_for_key else event.actor_label
    return {
        "id": event.id,
        "type": timeline.find_kind(event),
        "at": event.at,
        "actor": {"type": event.actor_type, "name": label} if event.actor_type else None,
        "changes": timeline.list_changes(event),
        "reason": timeline.find_reason(event),
        "subject": event.subject,
        "payout_id": event.payout_id,
        "conversion_id": event.conversion_id,
        "amount_cents": event.amount_cents,
        "currency": event.currency,
    }
