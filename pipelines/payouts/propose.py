"""Automatic payouts: a cadence proposes what an Owner confirms; where an Owner said so, it confirms by itself.

Proposing claims nothing: it tells what was due at that moment. What is confirmed, by whomever, is an ordinary run with
every gate. Source: core spec, "Organization profile" (automatic payouts).
"""

from datetime import date, datetime
from uuid import UUID

from domain import jobs
from domain.payouts import cadence
from domain.payouts.cadence import Cadence
from domain.payouts.confirmation import RunFilters, RunRequest
from domain.payouts.states import ProposalStatus
from domain.refusals import Refused
from models import advisory_locks, ids
from models.organization import audit, organizations
from models.organization.organizations import Organization
from models.payouts import proposals
from models.payouts.proposals import CadenceDue, Proposal
from pipelines import work
from pipelines.payouts import due, letters, run
from pipelines.payouts.due import PayoutPreview
from pipelines.payouts.run import Receipt


def any_org_look(*, now: datetime) -> int:
    """Stage a job for every organization whose cadence has come round; returns how many."""
    came_round = [one for one in proposals.any_org_with_cadence() if _due_on(one, now) is not None]
    for one in came_round:
        work.enqueue(jobs.PAYOUT_PROPOSE, organization_id=one.organization_id)
    return len(came_round)


def make(*, organization_id: UUID, now: datetime) -> None:
    """Write down what is due if the cadence has come round, and tell the Owners; once, no matter who asks how often.

    What an earlier period left open is in the new proposal. With nothing to pay, nobody is written to.
    """
    advisory_locks.take_payout_run_lock(organization_id)
    organization = organizations.lock(organization_id)
    found = proposals.with_cadence(organization_id)
    due_on = _due_on(found, now) if found else None
    if organization is None or due_on is None:
        return
    preview = due.preview(organization_id=organization_id, filters=RunFilters(), now=now)
    proposals.stage_replaced(organization_id=organization_id, at=now)
    proposal = _proposal(preview, due_on, now)
    proposals.stage(proposal)
    if proposal.status == ProposalStatus.Open:
        organizations.update(organization_id, {"last_automatic_payout_at": now})
        _go_on(organization, proposal, now)


def _go_on(organization: Organization, proposal: Proposal, now: datetime) -> None:
    if not organization.automatic_payout_enabled:
        letters.send_proposed(organization, proposal, at=now)
        return
    try:
        receipt = run.make(organization_id=organization.id, request=RunRequest(), now=now)
    except Refused as refusal:  # before anything is written
        proposals.stage_refused(organization_id=organization.id, code=refusal.code, message=refusal.message)
        letters.send_refused(organization, proposal, refusal, at=now)
    else:
        _stage_audit(organization.id, receipt, now)
        letters.send_confirmed(organization, receipt, at=now)


def _due_on(found: CadenceDue, now: datetime) -> date | None:
    today = cadence.local_day(found.timezone, now)
    came = cadence.latest_day(Cadence(found.cadence), since=found.since, today=today)
    is_done = came is None or (found.last_on is not None and found.last_on >= came)
    return None if is_done else came


def _proposal(preview: PayoutPreview, due_on: date, now: datetime) -> Proposal:
    planned = preview.planned
    recipients = len(planned.payouts)
    return Proposal(
        id=ids.new_id(),
        organization_id=preview.organization.id,
        due_on=due_on,
        status=ProposalStatus.Open if recipients else ProposalStatus.Empty,
        recipients=recipients,
        confirm_total_cents=planned.confirm_total_cents,
        native_totals=planned.native_totals,
        usd_estimate_cents=planned.payout_total_cents,
        created_at=now,
        closed_at=None if recipients else now,
    )


def _stage_audit(organization_id: UUID, receipt: Receipt, now: datetime) -> None:
    audit.stage(
        organization_id=organization_id,
        action="payout.run",
        entity_type="payout",
        entity_id=str(receipt.run.id),
        actor_type="system",
        actor_user_id=None,
        actor_label="payout cadence",
        ip=None,
        user_agent=None,
        request_id=None,
        before=None,
        after={
            "totalCents": receipt.total_cents,
            "nativeTotalsForRun": dict(receipt.run.confirmed_totals),
            "reviewStatus": receipt.run.review_status,
            "payoutCount": len(receipt.payouts),
        },
        at=now,
    )
