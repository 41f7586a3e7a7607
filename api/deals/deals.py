"""Creator deals, as the brand drafts them, offers them, withdraws them and has them charged."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from domain.organization import plans
from domain.organization.access import Role
from domain.refused import not_found
from models import db
from models.deals import lists
from models.deals.deals import Deal
from pipelines.deals import offer
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import BrandDealRecord, DealBody, DealsQuery

blueprint = Blueprint("deals", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
#: Who drafts and offers deals, and decides about milestones.
WRITE = Guard(audience="brand", scope="read_write", role=Role.Manager, plan=plans.Tier.Starter)
RECORD = BrandDealRecord()


@blueprint.post("/api/v1/deals")
@operation(
    WRITE,
    one(RECORD),
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
    """Draft a deal: a fixed fee for an affiliate in milestones. 201 with it.

    Its affiliate sees it once it is offered.
    """
    wanted = body.load()
    return answers.once(lambda: _create(wanted))


def _create(wanted: Mapping[str, Any]) -> answers.Answer:
    now = clock.now()
    deal_id = offer.create(
        organization_id=guards.organization_id(), body=wanted, is_test=guards.caller().is_test, now=now
    )
    made = shown(deal_id)
    audit.record("deal.created", deal_id, after=made, now=now)
    return 201, made


@blueprint.get("/api/v1/deals")
@operation(_READ, page(RECORD), asks=DealsQuery(), may_lag="answer")
def list_deals() -> Mapping[str, object]:
    """List deals, newest first, with their milestones."""
    query = body.query()
    asked = paging.wanted(query)
    with db.unit_of_work(guards.organization_id()):
        rows = lists.page(
            organization_id=guards.organization_id(),
            filters={name: query[name] for name in ("program_id", "affiliate_id", "status")},
            after=asked.after,
            limit=asked.limit,
        )
    return paging.envelope(asked, rows, lambda some: RECORD.dump(some, many=True))


@blueprint.get("/api/v1/deals/<deal_id>")
@operation(_READ, one(RECORD), refuses=("404 not_found",))
def get_deal(deal_id: str) -> Mapping[str, object]:
    """Show one deal with its milestones."""
    wanted_id = path.uuid(deal_id, "deal")
    with db.unit_of_work(guards.organization_id()):
        return shown(wanted_id)


@blueprint.post("/api/v1/deals/<deal_id>/offer")
@operation(WRITE, one(RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def offer_deal(deal_id: str) -> Response:
    """Offer a draft to its affiliate. 200 with the deal, Offered."""
    return decide(deal_id, "deal.offered", offer.make_offer)


@blueprint.post("/api/v1/deals/<deal_id>/cancel")
@operation(WRITE, one(RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def cancel_deal(deal_id: str) -> Response:
    """Withdraw a deal that was not funded. 200 with it, Cancelled."""
    return decide(deal_id, "deal.cancelled", offer.cancel)


def decide(deal_id: str, action: str, act: Callable[..., object]) -> Response:
    """Answer with a deal after `act(deal, now=)` has done something to it, locked; leaves an audit entry."""
    wanted_id = path.uuid(deal_id, "deal")
    body.load_optional()

    def done() -> answers.Answer:
        now = clock.now()
        deal = offer.lock(organization_id=guards.organization_id(), deal_id=wanted_id)
        act(deal, now=now)
        return 200, audited(action, deal, now)

    return answers.once(done)


def audited(action: str, before: Deal, now: datetime, **said: object) -> Mapping[str, object]:
    """Return a deal as it is now; stage the entry that tells how it was changed, with what was `said` of it."""
    now_shown = shown(before.id)
    after = {"status": now_shown["status"], **said}
    audit.record(action, before.id, before={"status": before.status}, after=after, now=now)
    return now_shown


def shown(deal_id: UUID) -> Mapping[str, object]:
    """Return a deal of the caller's organization as the brand sees it, or refuse with 404 not_found."""
    found = lists.find(organization_id=guards.organization_id(), deal_id=deal_id)
    if found is None:
        raise not_found("deal", deal_id)
    record: Mapping[str, object] = RECORD.dump(found)
    return record
