"""The charge of a whole deal: requested once, booked when it succeeds.

The take (our fee) is fixed when the charge is requested. The gates of payout runs apply, because the money leaves again
as payouts.
"""

from datetime import datetime
from uuid import UUID

import settings
from domain import jobs
from domain.deals import events, funding
from domain.deals.funding import FundingKind
from domain.deals.steps import DealStep
from domain.payouts import gates
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from models import ids
from models.deals import deals, escrow, milestones, requests
from models.deals.deals import Deal
from models.deals.requests import FundingRequest
from models.organization import organizations
from pipelines import work
from pipelines.deals import money, offer, sources
from pipelines.payouts import funding as payout_funding
from pipelines.webhooks import emit


def start(deal: Deal, *, now: datetime) -> None:
    """Request the charge of a deal that `money.lock_for_payment_request` has locked: its milestones and their takes.

    Raises Refused 409: invalid_status_transition, test_deal, affiliate_not_approved, no_funding_source, fx_unavailable,
    and the codes of the gates of a payout run.
    """
    offer.check_step(deal, DealStep.fund)
    if deal.is_test:
        raise Refused(409, "test_deal", "The deal was created with a test key; test deals are never charged.")
    party = deals.find_party(organization_id=deal.organization_id, affiliate_id=deal.affiliate_id)
    if party is None or party.status != AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_approved", "The affiliate is no longer Approved; cancel the deal.")
    organization = organizations.find(deal.organization_id)
    assert organization is not None
    source = sources.check_source(organization)
    bps = settings.current().rails.deal_take_bps
    total = 0
    for milestone in milestones.list_of_deal(organization_id=deal.organization_id, deal_id=deal.id):
        take = funding.take_cents(amount_cents=milestone.amount_cents, bps=bps)
        milestones.stage_take(milestone, take)
        total += milestone.amount_cents + take
    usd_cents = money.to_usd_cents(cents=total, currency=deal.currency, rate=money.find_rate(deal.currency, now=now))
    gates.check(payout_funding.read_gate_facts(organization, now=now), total_cents=usd_cents)
    last = requests.find_latest(organization_id=deal.organization_id, deal_id=deal.id, kind=FundingKind.charge)
    number = last.number + 1 if last else 1
    request_id = ids.new_id()
    requests.stage_insert(
        id=request_id,
        organization_id=deal.organization_id,
        deal_id=deal.id,
        milestone_id=None,
        kind=FundingKind.charge,
        number=number,
        key=funding.charge_key(deal_id=deal.id, number=number),
        amount_cents=total,
        currency=deal.currency,
        usd_cents=usd_cents,
        source=source,
        charge_reference=None,
    )
    enqueue(deal.organization_id, request_id)


def enqueue(organization_id: UUID, request_id: UUID) -> None:
    """Stage the job that calls the source."""
    work.enqueue(jobs.DEAL_ASK, organization_id=organization_id, request_id=request_id)


def record_success(request: FundingRequest, *, reference: str, now: datetime) -> None:
    """Book a successful charge, whose deal is locked, and emit an event for each milestone."""
    key = {"organization_id": request.organization_id, "deal_id": request.deal_id}
    deal = deals.lock(**key)
    assert deal is not None  # the request refers to it
    escrow.stage_funding(deal, cause_id=request.id, at=now)
    funded = deals.lock(**key)
    assert funded is not None
    emit.events_of_type(
        organization_id=deal.organization_id,
        type="deal.funded",
        data=[
            events.serialize_funded(
                deal_id=deal.id,
                milestone_id=milestone.id,
                seq=milestone.seq,
                title=milestone.title,
                amount_cents=milestone.amount_cents,
                take_cents=milestone.take_cents or 0,
                charge_id=reference,
                deal_status=funded.status,
            )
            for milestone in milestones.list_of_deal(**key)
        ],
        at=now,
    )
