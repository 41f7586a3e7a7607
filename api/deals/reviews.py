"""Creator deals, as the brand pays for them: the charge, and what becomes of each milestone."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import FRESH_S, Guard
from api.deals.deals import RECORD, WRITE, audited
from api.edge import answers, body, path
from api.edge.operations import one, operation
from api.edge.wake import wake_relay
from api.payouts.runs import GATES
from domain.deals.states import Side
from domain.organization.access import Role
from models.deals.deals import Deal
from pipelines.deals import charge, dispute, money, offer, release, submission
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import ChangesBody, DisputeBody

blueprint = Blueprint("deal_reviews", __name__)

_FUND = Guard(audience="dashboard", scope="read_write", role=Role.Owner, needs_login=True, fresh_s=FRESH_S)
_OUT_OF_TURN = ("404 not_found", "409 invalid_status_transition")


@blueprint.post("/api/v1/deals/<deal_id>/fund")
@operation(
    _FUND,
    one(RECORD),
    takes=Nothing(),
    refuses=(
        *_OUT_OF_TURN,
        "409 test_deal",
        "409 affiliate_not_approved",
        "409 no_funding_source",
        "409 fx_unavailable",
        *GATES,
    ),
)
def fund_deal(deal_id: str) -> Response:
    """Have the brand charged for an accepted deal: its milestones, and the take on top. 200 with it.

    The source is asked at once, and as often as it takes; the deal is Funded when it says that the charge went through.
    While it has not said, `chargeState` says so; a refused charge can be asked for again.
    """
    body.load_optional()
    return _decide(
        money.lock_for_payment_request, deal_id, "deal.charged", lambda deal, now: charge.start(deal, now=now)
    )


@blueprint.post("/api/v1/deals/<deal_id>/milestones/<seq>/approve")
@operation(
    WRITE,
    one(RECORD),
    takes=Nothing(),
    refuses=(
        *_OUT_OF_TURN,
        "409 affiliate_not_approved",
        "409 no_payout_account",
        "409 tax_form_required",
        "409 fx_unavailable",
        "409 nothing_to_pay",
        "409 payouts_on_hold",
    ),
)
def approve_milestone(deal_id: str, seq: str) -> Response:
    """Release a submitted milestone: its fee becomes a payout to the affiliate. 200 with the deal.

    The milestone is Released once the payout is Paid; until then it shows its `payoutId`.
    """
    body.load_optional()
    number, caller = path.number(seq, "milestone"), guards.caller()
    approved_by = None if caller.is_integration else caller.member_id
    return _decide(
        money.lock_to_pay,
        deal_id,
        "deal.milestone_approved",
        lambda deal, now: release.approve(deal, number, approved_by=approved_by, now=now),
        seq=number,
    )


@blueprint.post("/api/v1/deals/<deal_id>/milestones/<seq>/request-changes")
@operation(WRITE, one(RECORD), takes=ChangesBody(), refuses=_OUT_OF_TURN)
def request_milestone_changes(deal_id: str, seq: str) -> Response:
    """Send a submitted milestone back with a note, twice at most. 200 with the deal, the milestone Funded again."""
    number, wanted = path.number(seq, "milestone"), body.load()
    return _decide(
        offer.lock,
        deal_id,
        "deal.changes_requested",
        lambda deal, now: submission.request_changes(deal, number, note=wanted["note"]),
        seq=number,
        note=wanted["note"],
    )


@blueprint.post("/api/v1/deals/<deal_id>/milestones/<seq>/dispute")
@operation(WRITE, one(RECORD), takes=DisputeBody(), refuses=(*_OUT_OF_TURN, "409 rail_says_paid"))
def dispute_milestone(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone that is not paid. 200 with the deal; the operator settles it."""
    number, wanted = path.number(seq, "milestone"), body.load()
    return _decide(
        money.lock_for_payment_request,
        deal_id,
        "deal.disputed",
        lambda deal, now: dispute.open_dispute(deal, number, side=Side.brand, statement=wanted, now=now),
        seq=number,
        openedBy=Side.brand,
        reason=wanted["reason"],
        proposedResolution=wanted["proposed_resolution"],
    )


def _decide(
    lock: Callable[..., Deal], deal_id: str, action: str, act: Callable[[Deal, datetime], Any], **said: object
) -> Response:
    """Answer with a deal after something was done to it, behind a lock of its own; leaves an audit entry."""
    wanted_id = path.uuid(deal_id, "deal")

    def done() -> answers.Answer:
        now = clock.now()
        deal = lock(organization_id=guards.organization_id(), deal_id=wanted_id)
        act(deal, now)
        return 200, audited(action, deal, now, **said)

    answer = answers.once(done)
    wake_relay()
    return answer
