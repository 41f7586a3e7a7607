"""Creator deals of the affiliate who signed in, with all their brands, without drafts."""

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.deals.states import Side
from domain.refusals import not_found
from models import db
from models.deals import deals, lists
from models.deals.deals import Deal
from pipelines.deals import dispute, money, offer, submission
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import DisputeBody, OfferedDealRecord, SubmissionBody
from schemas.paging import PageQuery

blueprint = Blueprint("creator_deals", __name__)

_READ = Guard(audience="affiliate")
_WRITE = Guard(audience="affiliate", scope="read_write")
_RECORD = OfferedDealRecord()


@blueprint.get("/api/me/deals")
@operation(_READ, page(_RECORD), asks=PageQuery(), may_lag="answer")
def list_own_deals() -> Mapping[str, object]:
    """List the deals that brands offered to the caller, newest first."""
    page_request = paging.read_page_request(body.query())
    account_id, email = _caller()
    with db.any_org_work():
        rows = lists.any_org_page(account_id=account_id, email=email, **page_request.window)
    return paging.serialize_page(page_request, rows, lambda some: _RECORD.dump(some, many=True))


@blueprint.get("/api/me/deals/<deal_id>")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_own_deal(deal_id: str) -> Mapping[str, object]:
    """Show one deal that was offered to the caller."""
    wanted_id = path.uuid(deal_id, "deal")
    account_id, email = _caller()
    with db.any_org_work():
        rows = lists.any_org_page(account_id=account_id, email=email, deal_id=wanted_id, limit=1)
    if not rows:
        raise not_found("deal", wanted_id)
    return _RECORD.dump(rows[0])


@blueprint.post("/api/me/deals/<deal_id>/accept")
@operation(_WRITE, object_of(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def accept_deal(deal_id: str) -> Response:
    """Accept an offered deal. 200 with the deal, Accepted; work begins once it is Funded."""
    body.load_optional()
    return _decide(offer.lock, deal_id, "deal.accepted", lambda deal, now: offer.accept(deal, now=now))


@blueprint.post("/api/me/deals/<deal_id>/decline")
@operation(_WRITE, object_of(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def decline_deal(deal_id: str) -> Response:
    """Decline an offered deal. 200 with the deal, Declined."""
    body.load_optional()
    return _decide(offer.lock, deal_id, "deal.declined", lambda deal, now: offer.decline(deal, now=now))


@blueprint.post("/api/me/deals/<deal_id>/milestones/<seq>/submit")
@operation(
    _WRITE, object_of(_RECORD), takes=SubmissionBody(), refuses=("404 not_found", "409 invalid_status_transition")
)
def submit_milestone(deal_id: str, seq: str) -> Response:
    """Submit a funded milestone with the addresses of the work. 200 with the deal.

    It is released automatically at its `autoReleaseAt`, seven days later, unless the brand decides before.
    """
    number, requested = path.number(seq, "milestone"), body.load()
    return _decide(
        offer.lock,
        deal_id,
        "deal.milestone_submitted",
        lambda deal, now: submission.submit_milestone(deal, number, urls=requested["urls"], now=now),
        seq=number,
        urls=requested["urls"],
    )


@blueprint.post("/api/me/deals/<deal_id>/milestones/<seq>/dispute")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=DisputeBody(),
    refuses=("404 not_found", "409 invalid_status_transition", "409 rail_says_paid"),
)
def dispute_own_milestone(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone that is not paid. 200 with the deal; the operator settles it."""
    number, requested = path.number(seq, "milestone"), body.load()
    return _decide(
        money.lock_for_payment_request,
        deal_id,
        "deal.disputed",
        lambda deal, now: dispute.open_dispute(deal, number, side=Side.affiliate, statement=requested, now=now),
        seq=number,
        openedBy=Side.affiliate,
        reason=requested["reason"],
        proposedResolution=requested["proposed_resolution"],
    )


def _decide(
    lock: Callable[..., Deal], deal_id: str, action: str, act: Callable[[Deal, datetime], object], **details: object
) -> Response:
    """Lock a deal of the caller, run `act` on it, record an audit entry, and return the deal."""
    wanted_id = path.uuid(deal_id, "deal")
    account_id, email = _caller()
    with db.any_org_work():
        organization_id = deals.any_org_find_organization(deal_id=wanted_id, account_id=account_id, email=email)
    if organization_id is None:
        raise not_found("deal", wanted_id)

    def work() -> idempotency.Answer:
        now = clock.now()
        deal = lock(organization_id=organization_id, deal_id=wanted_id)
        act(deal, now)
        return 200, _audit(action, deal, now, details)

    return idempotency.run_once(work, organization_id=organization_id, wakes_relay=True)


def _audit(action: str, before: Deal, now: datetime, details: Mapping[str, object]) -> Mapping[str, object]:
    deal = lists.find(organization_id=before.organization_id, deal_id=before.id)
    assert deal is not None  # it is locked
    record: Mapping[str, object] = _RECORD.dump(deal)
    audit.record(
        action,
        before.id,
        before={"status": before.status},
        after={"status": record["status"], **details},
        now=now,
        organization_id=before.organization_id,
    )
    return record


def _caller() -> tuple[UUID | None, str | None]:
    """Return the caller's account id, and their email if it is verified."""
    account = guards.account()
    return account.id, account.email if account.is_email_verified else None
