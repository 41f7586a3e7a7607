"""Makes what the events of deals tell of, with an affiliate of our own and in the sandbox alone."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

from adapters import clock
from commands.rehearsal import scenes
from commands.rehearsal.scenes import Scene
from domain.deals.funding import FundingKind
from domain.deals.states import DealStatus, Side
from domain.payouts.states import AttemptState
from domain.refusals import Refused
from models import db
from models.deals import deals, requests
from pipelines.deals import charge, dispute, money, offer, release, submission
from schemas.deals.deal import DealBody

_SEQ = 1
_WORDS = {"reason": "Made by flask trigger.", "proposed_resolution": "Give half of it back."}


def _funded(scene: Scene) -> UUID:
    """Have a deal drafted, offered, accepted and charged; workers ask the sandbox for the money."""
    deal_id = _accepted(scene)
    with db.unit_of_work(scene.id):
        charge.start(money.lock_for_payment_request(organization_id=scene.id, deal_id=deal_id), now=clock.now())
    until = time.monotonic() + scenes.PATIENCE_S
    while time.monotonic() < until:
        if _is_funded(scene, deal_id):
            return deal_id
        time.sleep(0.1)
    message = f"The deal is not charged within {scenes.PATIENCE_S} s: do workers run? Next: flask jobs queues"
    raise Refused(409, "", message)


def _submitted(scene: Scene) -> UUID:
    deal_id = _funded(scene)
    with db.unit_of_work(scene.id):
        deal = offer.lock(organization_id=scene.id, deal_id=deal_id)
        submission.submit_milestone(deal, _SEQ, urls=["https://example.com/made-by-flask-trigger"], now=clock.now())
    return deal_id


def _released(scene: Scene) -> UUID:
    deal_id = _submitted(scene)
    with db.unit_of_work(scene.id):
        deal = money.lock_to_pay(organization_id=scene.id, deal_id=deal_id)
        release.approve(deal, _SEQ, approved_by=None, now=clock.now())
    return deal_id


def _disputed(scene: Scene) -> UUID:
    deal_id = _submitted(scene)
    with db.unit_of_work(scene.id):
        deal = money.lock_for_payment_request(organization_id=scene.id, deal_id=deal_id)
        dispute.open_dispute(deal, _SEQ, side=Side.affiliate, statement=_WORDS, now=clock.now())
    return deal_id


#: How to make each event of deals: returns the deal's id. Raises Refused.
MAKERS: Mapping[str, Callable[[Scene], UUID]] = MappingProxyType(
    {
        "deal.funded": _funded,
        "milestone.submitted": _submitted,
        "milestone.released": _released,
        "dispute.opened": _disputed,
    }
)


def _accepted(scene: Scene) -> UUID:
    scenes.only_in_the_sandbox(scene, "Deals are charged and paid")
    program_id = scenes.seller(scene).program_id
    terms = {
        "affiliateId": str(scenes.payee(scene, program_id)),
        "programId": str(program_id),
        "title": "Made by flask trigger",
        "currency": "USD",
        "milestones": [{"title": "A video", "amountCents": 20_000}],
    }
    with db.unit_of_work(scene.id):
        now = clock.now()
        deal_id = offer.create(organization_id=scene.id, body=DealBody().load(terms), is_test=False, now=now)
        for act in (offer.make_offer, offer.accept):
            act(offer.lock(organization_id=scene.id, deal_id=deal_id), now=now)
    return deal_id


def _is_funded(scene: Scene, deal_id: UUID) -> bool:
    """Say whether the charge went through. Raises Refused 409 when it was refused."""
    with db.unit_of_work(scene.id):
        deal = deals.find(organization_id=scene.id, deal_id=deal_id)
        charge = requests.find_latest(organization_id=scene.id, deal_id=deal_id, kind=FundingKind.charge)
    if charge is not None and charge.state == AttemptState.rejected:
        message = f"The sandbox refused the charge ({charge.detail}). Next: flask org set {scene.id} sandboxRail=ok"
        raise Refused(409, "", message)
    return deal is not None and deal.status == DealStatus.Funded
