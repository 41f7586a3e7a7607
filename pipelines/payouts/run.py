"""Creates a payout run: everything that is due and ready becomes payouts, all at once or not at all.

Only one run of an organization decides at a time, and no money is taken back from a conversion meanwhile. After that
the database guards what is paid: a conversion is in at most one open line. The claim and the planned payouts are
temporary tables of the run's own transaction (`models.payouts.runs`).
Source: core spec, "Payouts", run; tracking spec, section 6, payout.created.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts import confirmation, events
from domain.payouts.confirmation import Run, RunRequest
from domain.payouts.plan import PAYOUT_CURRENCY
from models import advisory_locks, ids
from models.organization import organizations
from models.payouts import proposals, runs
from models.payouts.runs import RunPayout
from pipelines import restore_guard
from pipelines.payouts import funding, rails, run_plan
from pipelines.webhooks import emit

# Payouts whose events are created and sent in one batch: the memory that is used does not grow with the run.
_BATCH = 500
_CREATED = "payout.created"


@dataclass(frozen=True, slots=True)
class Receipt:
    """A created run with its payouts."""

    run: Run
    payouts: Sequence[RunPayout]

    @property
    def total_cents(self) -> int:
        """The total that it pays, in US cents."""
        return sum(payout.amount_cents for payout in self.payouts)


def create(*, organization_id: UUID, request: RunRequest, now: datetime) -> Receipt:
    """Claim what is due, insert the payouts, and stage their transfers and events.

    Raises Refused 409, before anything is written: payouts_on_hold, the gates' codes in their order, then
    confirm_total_mismatch, nothing_to_pay.
    """
    advisory_locks.take_payout_run_lock(organization_id)
    restore_guard.check_payouts_allowed()
    organization = organizations.lock(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    planned = run_plan.claim(organization=organization, filters=request.filters, method=request.method, now=now)
    run_ = confirmation.decide(
        run_id=ids.new_id(),
        organization_id=organization_id,
        request=request,
        planned=planned,
        standing=funding.read_gate_facts(organization, now=now),
        now=now,
    )
    runs.stage_draft(planned)
    payouts = runs.write(run_, planned)
    if request.is_for_everything:
        proposals.stage_confirmed(organization_id=organization_id, run_id=run_.id, at=now)
    for batch in _batches(payouts):
        _stage_events(run_, batch)
        if run_.review_status is None:
            _enqueue(run_, batch)
    return Receipt(run_, payouts)


def _batches(payouts: Sequence[RunPayout]) -> Iterator[tuple[RunPayout, ...]]:
    remaining = iter(payouts)
    while batch := tuple(itertools.islice(remaining, _BATCH)):
        yield batch


def _stage_events(run_: Run, payouts: Sequence[RunPayout]) -> None:
    bodies = {}
    for payout in payouts:
        event_uuid = ids.new_id()
        body = emit.serialize(
            event_uuid=event_uuid,
            organization_id=run_.organization_id,
            type=_CREATED,
            data=events.serialize_created(
                payout_id=payout.payout_id,
                affiliate_id=payout.affiliate_id,
                amount_cents=payout.amount_cents,
                currency=PAYOUT_CURRENCY,
                method=payout.method,
                conversion_ids=[runs.CONVERSIONS],
                period_start=payout.period_start,
                period_end=payout.period_end,
            ),
            at=run_.created_at,
        )
        bodies[payout.payout_id] = event_uuid, body
    runs.stage_events(
        organization_id=run_.organization_id,
        event_type=_CREATED,
        bodies=bodies,
        at=run_.created_at,
    )


def _enqueue(run_: Run, payouts: Sequence[RunPayout]) -> None:
    by_method = defaultdict[str, list[RunPayout]](list)
    for payout in payouts:
        by_method[payout.method].append(payout)
    for method, batch in by_method.items():
        rails.enqueue_transfers(
            organization_id=run_.organization_id,
            method=method,
            payout_ids=[payout.payout_id for payout in batch],
            run_at=run_.hold_until,
        )
