"""Triggers the events of deals, with a test affiliate and only in the sandbox."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

from adapters import clock
from commands.developer import targets
from commands.developer.targets import TriggerTarget
from domain.deals.funding import FundingKind
from domain.deals.states import DealStatus, Side
from domain.payouts.states import AttemptState
from domain.refusals import Refused
from models import db
from models.deals import deals, requests
from pipelines.deals import charge, dispute, money, offer, release, submission
from schemas.deals.deal import DealBody

_SEQ = 1
_DISPUTE = {"reason": "Made by flask trigger.", "proposed_resolution": "Give half of it back."}


def _fund_deal(target: TriggerTarget) -> UUID:
    """Draft, offer, accept and charge a deal; workers request the money from the sandbox."""
    deal_id = _accept_deal(target)
    with db.unit_of_work(target.id):
        charge.start(money.lock_for_payment_request(organization_id=target.id, deal_id=deal_id), now=clock.now())
    until = time.monotonic() + targets.TIMEOUT_S
    while time.monotonic() < until:
        if _is_funded(target, deal_id):
            return deal_id
        time.sleep(0.1)
    message = f"The deal was not charged within {targets.TIMEOUT_S} s: are workers running? Next: flask jobs queues"
    raise Refused(409, "", message)


def _submit_milestone(target: TriggerTarget) -> UUID:
    deal_id = _fund_deal(target)
    with db.unit_of_work(target.id):
        deal = offer.lock(organization_id=target.id, deal_id=deal_id)
        submission.submit_milestone(deal, _SEQ, urls=["https://example.com/made-by-flask-trigger"], now=clock.now())
    return deal_id


def _release_milestone(target: TriggerTarget) -> UUID:
    deal_id = _submit_milestone(target)
    with db.unit_of_work(target.id):
        deal = money.lock_to_pay(organization_id=target.id, deal_id=deal_id)
        release.approve(deal, _SEQ, approved_by=None, now=clock.now())
    return deal_id


def _dispute_milestone(target: TriggerTarget) -> UUID:
    deal_id = _submit_milestone(target)
    with db.unit_of_work(target.id):
        deal = money.lock_for_payment_request(organization_id=target.id, deal_id=deal_id)
        dispute.open_dispute(deal, _SEQ, side=Side.affiliate, statement=_DISPUTE, now=clock.now())
    return deal_id


#: Function that triggers each deal event and returns the deal's id. Raises Refused.
MAKERS: Mapping[str, Callable[[TriggerTarget], UUID]] = MappingProxyType(
    {
        "deal.funded": _fund_deal,
        "milestone.submitted": _submit_milestone,
        "milestone.released": _release_milestone,
        "dispute.opened": _dispute_milestone,
    }
)


def _accept_deal(target: TriggerTarget) -> UUID:
    targets.require_sandbox(target, "Deals would move real money")
    program_id = targets.find_seller(target).program_id
    terms = {
        "affiliateId": str(targets.add_payable_affiliate(target, program_id)),
        "programId": str(program_id),
        "title": "Made by flask trigger",
        "currency": "USD",
        "milestones": [{"title": "A video", "amountCents": 20_000}],
    }
    with db.unit_of_work(target.id):
        now = clock.now()
        deal_id = offer.create(organization_id=target.id, body=DealBody().load(terms), is_test=False, now=now)
        for act in (offer.make_offer, offer.accept):
            act(offer.lock(organization_id=target.id, deal_id=deal_id), now=now)
    return deal_id


def _is_funded(target: TriggerTarget, deal_id: UUID) -> bool:
    """Return whether the charge succeeded. Raises Refused 409 if it was rejected."""
    with db.unit_of_work(target.id):
        deal = deals.find(organization_id=target.id, deal_id=deal_id)
        charge = requests.find_latest(organization_id=target.id, deal_id=deal_id, kind=FundingKind.charge)
    if charge is not None and charge.state == AttemptState.rejected:
        message = f"The sandbox refused the charge ({charge.detail}). Next: flask org set {target.id} sandboxRail=ok"
        raise Refused(409, "", message)
    return deal is not None and deal.status == DealStatus.Funded
