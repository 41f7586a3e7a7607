"""Creator deals: drafts, offers and withdrawals by the brand."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.deals import lists
from models.deals.deals import Deal
from pipelines.deals import offer
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import DealBody, DealRecord, DealsQuery

blueprint = Blueprint("deals", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
#: The guard for drafting and offering deals and for deciding about milestones.
WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
RECORD = DealRecord()


@blueprint.post("/api/v1/deals")
@operation(
    WRITE,
    object_of(RECORD),
    status=201,
    takes=DealBody(),
    refuses=(
        "400 amount_out_of_range",
        "400 unsupported_currency",
        "400 affiliate_not_in_program",
        "400 test_affiliate_not_allowed",
        "400 no_active_program",
        "404 not_found",
        "409 affiliate_not_approved",
    ),
)
def create_deal() -> Response:
    """Draft a deal: a fixed fee for an affiliate in milestones. 201 with the deal.

    The affiliate sees it once it is offered.
    """
    requested = body.load()
    return idempotency.run_once(lambda: _create(requested))


def _create(requested: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    deal_id = offer.create(
        organization_id=guards.organization_id(), body=requested, is_test=guards.caller().is_test, now=now
    )
    record = serialize(deal_id)
    audit.record("deal.created", deal_id, after=record, now=now)
    return 201, record


@blueprint.get("/api/v1/deals")
@operation(_READ, page(RECORD), asks=DealsQuery(), may_lag="answer")
def list_deals() -> Mapping[str, object]:
    """List deals, newest first, with their milestones."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = lists.page(
            organization_id=guards.organization_id(),
            filters={name: query[name] for name in ("program_id", "affiliate_id", "status")},
            **page_request.window,
        )
    return paging.serialize_page(page_request, rows, lambda some: RECORD.dump(some, many=True))


@blueprint.get("/api/v1/deals/<deal_id>")
@operation(_READ, object_of(RECORD), refuses=("404 not_found",))
def get_deal(deal_id: str) -> Mapping[str, object]:
    """Show one deal with its milestones."""
    wanted_id = path.uuid(deal_id, "deal")
    with db.unit_of_work(guards.organization_id()):
        return serialize(wanted_id)


@blueprint.post("/api/v1/deals/<deal_id>/offer")
@operation(WRITE, object_of(RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def offer_deal(deal_id: str) -> Response:
    """Offer a draft to its affiliate. 200 with the deal, Offered."""
    return decide(deal_id, "deal.offered", offer.make_offer)


@blueprint.post("/api/v1/deals/<deal_id>/cancel")
@operation(WRITE, object_of(RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def cancel_deal(deal_id: str) -> Response:
    """Withdraw a deal that was not funded. 200 with the deal, Cancelled."""
    return decide(deal_id, "deal.cancelled", offer.cancel)


def decide(deal_id: str, action: str, act: Callable[..., object]) -> Response:
    """Lock a deal, run `act(deal, now=)`, record an audit entry, and return the deal."""
    wanted_id = path.uuid(deal_id, "deal")
    body.load_optional()

    def work() -> idempotency.Answer:
        now = clock.now()
        deal = offer.lock(organization_id=guards.organization_id(), deal_id=wanted_id)
        act(deal, now=now)
        return 200, audit_change(action, deal, now)

    return idempotency.run_once(work)


def audit_change(action: str, before: Deal, now: datetime, **details: object) -> Mapping[str, object]:
    """Stage the audit entry of a change with its `details`, and return the JSON of the deal as it is now."""
    record = serialize(before.id)
    after = {"status": record["status"], **details}
    audit.record(action, before.id, before={"status": before.status}, after=after, now=now)
    return record


def serialize(deal_id: UUID) -> Mapping[str, object]:
    """Return the JSON of a deal of the caller's organization. Raises Refused 404 not_found."""
    deal = lists.find(organization_id=guards.organization_id(), deal_id=deal_id)
    if deal is None:
        raise not_found("deal", deal_id)
    return RECORD.dump(deal)
