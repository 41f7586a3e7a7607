"""Automatic payouts: a cadence proposes a run that an Owner confirms, or confirms it where an Owner allowed that.

A proposal claims nothing: it states what was due at its time. A confirmed one is an ordinary run with every gate.
Source: core spec, "Organization profile" (automatic payouts).
"""

from datetime import date, datetime
from uuid import UUID

import settings
from domain import jobs
from domain.money import wording
from domain.notifications.kinds import NotificationKind
from domain.payouts import cadence
from domain.payouts.cadence import Cadence
from domain.payouts.confirmation import RunFilters, RunRequest
from domain.payouts.states import ProposalStatus
from domain.refusals import Refused
from domain.text import instants
from models import advisory_locks, ids
from models.notifications.feed import NewNotice
from models.organization import audit, organizations
from models.organization.organizations import Organization
from models.payouts import proposals
from models.payouts.proposals import PayoutCadence, Proposal
from pipelines import mail, work
from pipelines.notifications import notices
from pipelines.payouts import run, run_plan
from pipelines.payouts.run import Receipt
from pipelines.payouts.run_plan import PayoutPreview


def any_org_enqueue_due(*, now: datetime) -> int:
    """Stage a job for every organization whose cadence is due; return how many."""
    due_cadences = [row for row in proposals.any_org_list_with_cadence() if _due_on(row, now) is not None]
    for row in due_cadences:
        work.enqueue(jobs.PAYOUT_PROPOSE, organization_id=row.organization_id)
    return len(due_cadences)


def propose(*, organization_id: UUID, now: datetime) -> None:
    """Create a proposal if the cadence is due, and notify the Owners; once per period, however often it is called.

    Amounts that an earlier period left open are in the new proposal. No one is notified when nothing is due.
    """
    advisory_locks.take_payout_run_lock(organization_id)
    organization = organizations.lock(organization_id)
    row = proposals.find_cadence(organization_id)
    due_on = _due_on(row, now) if row else None
    if organization is None or due_on is None:
        return
    preview = run_plan.preview(organization_id=organization_id, filters=RunFilters(), now=now)
    proposals.stage_replaced(organization_id=organization_id, at=now)
    proposal = _build_proposal(preview, due_on, now)
    proposals.stage(proposal)
    if proposal.status == ProposalStatus.Open:
        organizations.update(organization_id, {"last_automatic_payout_at": now})
        _confirm_or_notify(organization, proposal, now)


def _confirm_or_notify(organization: Organization, proposal: Proposal, now: datetime) -> None:
    if not organization.automatic_payout_enabled:
        _notify_proposed(organization, proposal)
        return
    try:
        receipt = run.create(organization_id=organization.id, request=RunRequest(), now=now)
    except Refused as refusal:  # before anything is written
        proposals.stage_refused(organization_id=organization.id, code=refusal.code, message=refusal.message)
        _notify_refused(organization, proposal, refusal)
    else:
        _stage_audit(organization.id, receipt, now)
        _email_confirmed(organization, receipt, now)


def _due_on(row: PayoutCadence, now: datetime) -> date | None:
    today = cadence.local_day(row.timezone, now)
    latest = cadence.latest_day(Cadence(row.cadence), since=row.since, today=today)
    is_done = latest is None or (row.last_on is not None and row.last_on >= latest)
    return None if is_done else latest


def _build_proposal(preview: PayoutPreview, due_on: date, now: datetime) -> Proposal:
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
        entity_id=str(receipt.run.id),
        actor_type="system",
        actor_label="payout cadence",
        after={
            "totalCents": receipt.total_cents,
            "nativeTotalsForRun": dict(receipt.run.confirmed_totals),
            "reviewStatus": receipt.run.review_status,
            "payoutCount": len(receipt.payouts),
        },
        at=now,
    )


def _notify_proposed(organization: Organization, proposal: Proposal) -> None:
    detail = (
        f"{_describe(organization, proposal)}\n\nNothing was paid yet. Check the preview, which is always current, and"
        " confirm the run."
    )
    _notify_due(organization, proposal, f"Payouts due: {_describe_short(proposal)}", detail)


def _notify_refused(organization: Organization, proposal: Proposal, refusal: Refused) -> None:
    detail = (
        f"{_describe(organization, proposal)}\n\nThe run was not confirmed automatically:"
        f" {refusal.message}\n\nNothing was paid. Once this is resolved, confirm the run."
    )
    _notify_due(organization, proposal, f"Payouts not made: {_describe_short(proposal)}", detail)


def _notify_due(organization: Organization, proposal: Proposal, title: str, detail: str) -> None:
    """Stage the notification of a proposal that waits for an Owner. It names no affiliate."""
    notices.stage(
        NewNotice(
            organization.id,
            NotificationKind.PayoutDue.value,
            proposal.id,
            title=title,
            detail=detail,
            path="/dashboard/payouts",
        )
    )


def _describe_short(proposal: Proposal) -> str:
    total = wording.format_money(proposal.usd_estimate_cents, "USD")
    return f"{total} to {proposal.recipients:,} {'affiliate' if proposal.recipients == 1 else 'affiliates'}"


def _email_confirmed(organization: Organization, receipt: Receipt, now: datetime) -> None:
    hold = ""
    if receipt.run.review_status:
        hold = " The operator reviews them before they are sent."
    elif receipt.run.hold_until:
        hold = f" They are on hold until {instants.format_instant(receipt.run.hold_until)}."
    count, total = len(receipt.payouts), wording.format_money(receipt.total_cents, "USD")
    payouts = (
        f"1 payout of {organization.name}, {total}, was"
        if count == 1
        else (f"{count:,} payouts of {organization.name}, {total} in total, were")
    )
    text = (
        f"{payouts} confirmed automatically.{hold}\n\n"
        f"See the run: {settings.current().web.url}/dashboard/payouts/runs/{receipt.run.id}"
    )
    _send(organization, f"Payouts of {organization.name} were confirmed", text, "payout.confirmed", now)


def _describe(organization: Organization, proposal: Proposal) -> str:
    totals = ", ".join(wording.format_money(cents, currency) for currency, cents in proposal.native_totals.items())
    total = wording.format_money(proposal.usd_estimate_cents, "USD")
    affiliates = "1 affiliate" if proposal.recipients == 1 else f"{proposal.recipients:,} affiliates"
    return (
        f"{affiliates} of {organization.name} {'is' if proposal.recipients == 1 else 'are'} due to be paid: {totals}"
        f" ({total} at the latest exchange rates)."
    )


def _send(organization: Organization, subject: str, text: str, kind: str, now: datetime) -> None:
    """Stage an email to the Owners. It names no affiliate."""
    mail.send_to_owners(organization_id=organization.id, subject=subject, text=text, kind=kind, at=now)
