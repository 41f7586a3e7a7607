"""Creator deals, as the affiliate who signed in answers them. Deals of every brand that they work for; no drafts."""

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from api.edge.wake import wake_relay
from domain.deals.states import Side
from domain.refused import not_found
from models import db
from models.deals import deals, lists
from models.deals.deals import Deal
from pipelines.deals import dispute, money, offer, submission
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import DealRecord, DisputeBody, SubmissionBody
from schemas.paging import PageQuery

blueprint = Blueprint("creator_deals", __name__)

_READ = Guard(audience="affiliate")
_WRITE = Guard(audience="affiliate", scope="read_write")
_RECORD = DealRecord()


@blueprint.get("/api/me/deals")
@operation(_READ, page(_RECORD), asks=PageQuery(), may_lag="answer")
def list_own_deals() -> Mapping[str, object]:
    """List the deals that brands offered to the caller, newest first."""
    asked = paging.wanted(body.query())
    account_id, email = _caller()
    with db.any_org_work():
        rows = lists.any_org_page(account_id=account_id, email=email, after=asked.after, limit=asked.limit)
    return paging.envelope(asked, rows, lambda some: _RECORD.dump(some, many=True))


@blueprint.get("/api/me/deals/<deal_id>")
@operation(_READ, one(_RECORD), refuses=("404 not_found",))
def get_own_deal(deal_id: str) -> Mapping[str, object]:
    """Show one deal that was offered to the caller."""
    wanted_id = path.uuid(deal_id, "deal")
    account_id, email = _caller()
    with db.any_org_work():
        found = lists.any_org_page(account_id=account_id, email=email, deal_id=wanted_id, limit=1)
    if not found:
        raise not_found("deal", wanted_id)
    record: Mapping[str, object] = _RECORD.dump(found[0])
    return record


@blueprint.post("/api/me/deals/<deal_id>/accept")
@operation(_WRITE, one(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def accept_deal(deal_id: str) -> Response:
    """Accept an offered deal. 200 with it, Accepted; work begins once it is Funded."""
    body.load_optional()
    return _decide(offer.lock, deal_id, "deal.accepted", lambda deal, now: offer.accept(deal, now=now))


@blueprint.post("/api/me/deals/<deal_id>/decline")
@operation(_WRITE, one(_RECORD), takes=Nothing(), refuses=("404 not_found", "409 invalid_status_transition"))
def decline_deal(deal_id: str) -> Response:
    """Decline an offered deal. 200 with it, Declined."""
    body.load_optional()
    return _decide(offer.lock, deal_id, "deal.declined", lambda deal, now: offer.decline(deal, now=now))


@blueprint.post("/api/me/deals/<deal_id>/milestones/<seq>/submit")
@operation(_WRITE, one(_RECORD), takes=SubmissionBody(), refuses=("404 not_found", "409 invalid_status_transition"))
def submit_milestone(deal_id: str, seq: str) -> Response:
    """Hand in a funded milestone: where the work can be seen. 200 with the deal.

    It is released by itself at its `autoReleaseAt`, seven days later, unless the brand decides before.
    """
    number, wanted = path.number(seq, "milestone"), body.load()
    return _decide(
        offer.lock,
        deal_id,
        "deal.milestone_submitted",
        lambda deal, now: submission.submit_milestone(deal, number, urls=wanted["urls"], now=now),
        seq=number,
        urls=wanted["urls"],
    )


@blueprint.post("/api/me/deals/<deal_id>/milestones/<seq>/dispute")
@operation(
    _WRITE,
    one(_RECORD),
    takes=DisputeBody(),
    refuses=("404 not_found", "409 invalid_status_transition", "409 rail_says_paid"),
)
def dispute_own_milestone(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone that is not paid. 200 with the deal; the operator settles it."""
    number, wanted = path.number(seq, "milestone"), body.load()
    return _decide(
        money.lock_for_payment_request,
        deal_id,
        "deal.disputed",
        lambda deal, now: dispute.open_dispute(deal, number, side=Side.affiliate, statement=wanted, now=now),
        seq=number,
        openedBy=Side.affiliate,
        reason=wanted["reason"],
        proposedResolution=wanted["proposed_resolution"],
    )


def _decide(
    lock: Callable[..., Deal], deal_id: str, action: str, act: Callable[[Deal, datetime], object], **said: object
) -> Response:
    """Answer with a deal of the caller's after something was done to it, behind a lock; leaves an audit entry."""
    wanted_id = path.uuid(deal_id, "deal")
    account_id, email = _caller()
    with db.any_org_work():
        organization_id = deals.any_org_find_organization(deal_id=wanted_id, account_id=account_id, email=email)
    if organization_id is None:
        raise not_found("deal", wanted_id)

    def done() -> answers.Answer:
        now = clock.now()
        deal = lock(organization_id=organization_id, deal_id=wanted_id)
        act(deal, now)
        return 200, _audited(action, deal, now, said)

    answer = answers.once(done, organization_id=organization_id)
    wake_relay()
    return answer


def _audited(action: str, before: Deal, now: datetime, said: Mapping[str, object]) -> Mapping[str, object]:
    found = lists.find(organization_id=before.organization_id, deal_id=before.id)
    assert found is not None  # it is locked
    record: Mapping[str, object] = _RECORD.dump(found)
    audit.record(
        action,
        before.id,
        before={"status": before.status},
        after={"status": record["status"], **said},
        now=now,
        organization_id=before.organization_id,
    )
    return record


def _caller() -> tuple[UUID | None, str | None]:
    """Return the caller's account and their email, if it is theirs for certain."""
    account = guards.account()
    return account.id, account.email if account.is_email_verified else None
