"""A payout run: everything that is due and ready becomes payouts, all at once or not at all.

One run of an organization decides at a time, and nobody takes money back from a conversion while it does. What is
paid by whom is then the database's to guard: a conversion stands in one open line.
Source: core spec, "Payouts", run; tracking spec, section 6, payout.created.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.payouts import events, gates, plan
from domain.payouts.plan import Candidate, Rate
from domain.payouts.states import ReviewStatus
from domain.refused import Refused
from models import ids
from models.organization import organizations
from models.organization.organizations import Organization
from models.payouts import candidates, proposals, runs
from models.payouts.candidates import Filters
from models.payouts.runs import Written
from pipelines import jobs
from pipelines.payouts import due as plans
from pipelines.webhooks import emit

# Payouts whose events are made and sent together: what is in memory does not grow with the run.
_AT_ONCE = 500
_CREATED = "payout.created"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run is asked for. `confirm_totals` None: the raw sum alone is confirmed; `confirm_total_cents` None:
    whatever is due is (the automatic cadence, on an Owner's word given before).

    `method` None pays everybody on the rail that they have. `confirm_rates` None: by whatever rates are fresh.
    """

    confirm_total_cents: int | None
    confirm_totals: Mapping[str, int] | None
    filters: Filters
    method: str | None
    notes: str | None
    external_transaction_id: str | None
    shown_filters: Mapping[str, Any]
    confirm_rates: Mapping[str, Rate] | None = None

    @property
    def is_for_everything(self) -> bool:
        """Whether nothing narrows it."""
        return self.method is None and self.filters == Filters()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a run came to. `review_status` is Pending while an operator is to look at it, else None."""

    run_id: UUID
    payouts: Sequence[Written]
    total_cents: int
    native_totals: Mapping[str, int]
    review_status: ReviewStatus | None
    hold_until: datetime | None


def run(*, organization_id: UUID, asked: Asked, by: UUID | None, now: datetime) -> Receipt:
    """Claim what is due, write the payouts, and stage their transfers and events. `by` None: the automatic cadence.

    Raises Refused 409: the gates' codes in their order, then confirm_total_mismatch, nothing_to_pay. Nothing is
    written then.
    """
    candidates.take_run_turn(organization_id)
    organization = organizations.lock(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    planned = plans.claim(organization=organization, filters=asked.filters, method=asked.method, now=now)
    ready = [candidate for candidate in planned.candidates if candidate.is_ready]
    drafts = _drafts(ready)
    total_cents = runs.draft_lines(
        drafts=drafts,
        ready=[(candidate.payee.affiliate_id, candidate.currency) for candidate in ready],
        rates=[
            runs.Converted(currency, plan.usd_factor(currency, rate.per_usd), rate.per_usd, rate.on)
            for currency, rate in planned.rates.items()
        ],
    )
    standing = plans.standing(organization, now=now)
    gates.check(standing, total_cents=total_cents)
    _check_confirmed(planned, asked)
    _check_rates(planned, asked)
    if not total_cents:
        raise Refused(409, "nothing_to_pay", "Nothing is due and ready to be paid; the preview says why.")
    return _write(organization, asked, planned, drafts, standing, by, now)


def _drafts(ready: Sequence[Candidate]) -> list[runs.Draft]:
    payees = {candidate.payee.affiliate_id: candidate.payee for candidate in ready}
    return [
        runs.Draft(
            payout_id=ids.new_id(),
            affiliate_id=payee.affiliate_id,
            program_id=payee.program_id,
            method=payee.method or "",
            destination=payee.destination or "",
        )
        for payee in payees.values()
    ]


def _check_confirmed(planned: plans.Planned, asked: Asked) -> None:
    totals, total = planned.native_totals, planned.confirm_total_cents
    if asked.confirm_total_cents is None:
        return
    if asked.confirm_total_cents == total and asked.confirm_totals in (None, totals):
        return
    message = f"The total is {total} now and {asked.confirm_total_cents} was confirmed; preview again, then confirm."
    raise Refused(409, "confirm_total_mismatch", message, expectedTotalCents=total, nativeTotalsForRun=totals)


def _check_rates(planned: plans.Planned, asked: Asked) -> None:
    confirmed = asked.confirm_rates
    if confirmed is None:
        return
    changed = [
        currency
        for currency in planned.native_totals
        if currency != plan.PAYOUT_CURRENCY
        and not (currency in confirmed and planned.rates[currency].is_shown_as(confirmed[currency]))
    ]
    if changed:
        message = f"The rate of {', '.join(changed)} is another one now; preview again, then confirm."
        raise Refused(409, "confirm_total_mismatch", message, changedFxRates=changed)


def _write(
    organization: Organization,
    asked: Asked,
    planned: plans.Planned,
    drafts: Sequence[runs.Draft],
    standing: gates.Standing,
    by: UUID | None,
    now: datetime,
) -> Receipt:
    run_id = ids.new_id()
    hold_until = gates.hold_until(standing, now=now)
    review_status = ReviewStatus.Pending if standing.needs_review else None
    runs.stage_run(
        {
            "id": run_id,
            "organization_id": organization.id,
            "confirmed_by": by,
            "confirmed_cents": planned.confirm_total_cents,
            "confirmed_totals": planned.native_totals,
            "filters": dict(asked.shown_filters),
            "notes": asked.notes,
            "external_transaction_id": asked.external_transaction_id,
            "review_status": review_status,
            "hold_until": hold_until,
            "created_at": now,
        }
    )
    if asked.is_for_everything:
        proposals.stage_confirmed(organization_id=organization.id, run_id=run_id, at=now)
    written = runs.write_payouts(
        organization_id=organization.id,
        run_id=run_id,
        drafts=drafts,
        notes=asked.notes,
        external_transaction_id=asked.external_transaction_id,
        at=now,
    )
    for part in _portions(written):
        _announce(organization.id, part, now)
        if review_status is None:
            _enqueue(organization.id, part, hold_until)
    total_cents = sum(payout.amount_cents for payout in written)
    return Receipt(run_id, written, total_cents, planned.native_totals, review_status, hold_until)


def _portions(written: Sequence[Written]) -> Iterator[tuple[Written, ...]]:
    remaining = iter(written)
    while part := tuple(itertools.islice(remaining, _AT_ONCE)):
        yield part


def _announce(organization_id: UUID, payouts: Sequence[Written], now: datetime) -> None:
    bodies = {}
    for payout in payouts:
        event_uuid = ids.new_id()
        body = emit.frozen(
            event_uuid=event_uuid,
            organization_id=organization_id,
            type=_CREATED,
            data=events.created(
                payout_id=payout.payout_id,
                affiliate_id=payout.affiliate_id,
                amount_cents=payout.amount_cents,
                currency=plan.PAYOUT_CURRENCY,
                method=payout.method,
                conversion_ids=[runs.CONVERSIONS],
                period_start=payout.period_start,
                period_end=payout.period_end,
            ),
            at=now,
        )
        bodies[payout.payout_id] = event_uuid, body
    runs.stage_events(
        organization_id=organization_id,
        event_type=_CREATED,
        bodies=bodies,
        at=now,
        delivery_job=jobs.WEBHOOK_DELIVER,
    )


def _enqueue(organization_id: UUID, payouts: Sequence[Written], hold_until: datetime | None) -> None:
    jobs.enqueue_all(
        jobs.PAYOUT_TRANSFER,
        organization_id=organization_id,
        run_at=hold_until,
        args=[{"payout_id": payout.payout_id} for payout in payouts],
    )
