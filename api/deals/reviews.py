"""Creator deals: the charge of the brand, and its decisions about milestones."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import FRESH_S, Guard
from api.deals.deals import RECORD, WRITE, audit_change
from api.edge import body, idempotency, path
from api.edge.operations import object_of, operation
from api.payouts.runs import GATE_REFUSALS
from domain.deals.states import Side
from domain.organization.access import Role
from models.deals.deals import Deal
from pipelines.deals import charge, dispute, money, offer, release, submission
from schemas.affiliates.affiliate import Nothing
from schemas.deals.deal import ChangesBody, DisputeBody

blueprint = Blueprint("deal_reviews", __name__)

_FUND = Guard(audience="dashboard", scope="read_write", role=Role.Owner, needs_login=True, fresh_s=FRESH_S)
_REFUSALS = ("404 not_found", "409 invalid_status_transition")


@blueprint.post("/api/v1/deals/<deal_id>/fund")
@operation(
    _FUND,
    object_of(RECORD),
    takes=Nothing(),
    refuses=(
        *_REFUSALS,
        "409 test_deal",
        "409 affiliate_not_approved",
        "409 no_funding_source",
        "409 fx_unavailable",
        *GATE_REFUSALS,
    ),
)
def fund_deal(deal_id: str) -> Response:
    """Charge the brand for an accepted deal: its milestones, and the take on top. 200 with the deal.

    The funding source is called at once, and again until it confirms the charge; then the deal is Funded. Until then
    `chargeState` shows the state; a refused charge can be repeated.
    """
    body.load_optional()
    return _decide(
        money.lock_for_payment_request, deal_id, "deal.charged", lambda deal, now: charge.start(deal, now=now)
    )


@blueprint.post("/api/v1/deals/<deal_id>/milestones/<seq>/approve")
@operation(
    WRITE,
    object_of(RECORD),
    takes=Nothing(),
    refuses=(
        *_REFUSALS,
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
@operation(WRITE, object_of(RECORD), takes=ChangesBody(), refuses=_REFUSALS)
def request_milestone_changes(deal_id: str, seq: str) -> Response:
    """Send a submitted milestone back with a note, twice at most. 200 with the deal, the milestone Funded again."""
    number, requested = path.number(seq, "milestone"), body.load()
    return _decide(
        offer.lock,
        deal_id,
        "deal.changes_requested",
        lambda deal, now: submission.request_changes(deal, number, note=requested["note"]),
        seq=number,
        note=requested["note"],
    )


@blueprint.post("/api/v1/deals/<deal_id>/milestones/<seq>/dispute")
@operation(WRITE, object_of(RECORD), takes=DisputeBody(), refuses=(*_REFUSALS, "409 rail_says_paid"))
def dispute_milestone(deal_id: str, seq: str) -> Response:
    """Open a dispute about a milestone that is not paid. 200 with the deal; the operator settles it."""
    number, requested = path.number(seq, "milestone"), body.load()
    return _decide(
        money.lock_for_payment_request,
        deal_id,
        "deal.disputed",
        lambda deal, now: dispute.open_dispute(deal, number, side=Side.brand, statement=requested, now=now),
        seq=number,
        openedBy=Side.brand,
        reason=requested["reason"],
        proposedResolution=requested["proposed_resolution"],
    )


def _decide(
    lock: Callable[..., Deal], deal_id: str, action: str, act: Callable[[Deal, datetime], Any], **details: object
) -> Response:
    """Lock a deal with `lock`, run `act` on it, record an audit entry, and return the deal."""
    wanted_id = path.uuid(deal_id, "deal")

    def work() -> idempotency.Answer:
        now = clock.now()
        deal = lock(organization_id=guards.organization_id(), deal_id=wanted_id)
        act(deal, now)
        return 200, audit_change(action, deal, now, **details)

    return idempotency.run_once(work, wakes_relay=True)
