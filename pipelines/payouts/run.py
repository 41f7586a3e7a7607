"""A payout run: everything that is due and ready becomes payouts, all at once or not at all.

One run of an organization decides at a time, and nobody takes money back from a conversion while it does. What is
paid by whom is then the database's to guard: a conversion stands in one open line. The claim and the payouts to be are
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
from pipelines.payouts import due, funding, rails
from pipelines.webhooks import emit

# Payouts whose events are made and sent together: what is in memory does not grow with the run.
_AT_ONCE = 500
_CREATED = "payout.created"


@dataclass(frozen=True, slots=True)
class Receipt:
    """A run that was made, with its payouts."""

    run: Run
    payouts: Sequence[RunPayout]

    @property
    def total_cents(self) -> int:
        """What it pays, in US cents."""
        return sum(payout.amount_cents for payout in self.payouts)


def make(*, organization_id: UUID, request: RunRequest, now: datetime) -> Receipt:
    """Claim what is due, write the payouts, and stage their transfers and events.

    Raises Refused 409: payouts_on_hold, the gates' codes in their order, then confirm_total_mismatch, nothing_to_pay.
    Nothing is written then.
    """
    advisory_locks.take_payout_run_lock(organization_id)
    restore_guard.check_payouts_allowed()
    organization = organizations.lock(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    planned = due.claim(organization=organization, filters=request.filters, method=request.method, now=now)
    decided = confirmation.decide(
        run_id=ids.new_id(),
        organization_id=organization_id,
        request=request,
        planned=planned,
        standing=funding.standing(organization, now=now),
        now=now,
    )
    runs.stage_draft(planned)
    payouts = runs.write(decided, planned)
    if request.is_for_everything:
        proposals.stage_confirmed(organization_id=organization_id, run_id=decided.id, at=now)
    for part in _portions(payouts):
        _announce(decided, part)
        if decided.review_status is None:
            _enqueue(decided, part)
    return Receipt(decided, payouts)


def _portions(payouts: Sequence[RunPayout]) -> Iterator[tuple[RunPayout, ...]]:
    remaining = iter(payouts)
    while part := tuple(itertools.islice(remaining, _AT_ONCE)):
        yield part


def _announce(decided: Run, payouts: Sequence[RunPayout]) -> None:
    bodies = {}
    for payout in payouts:
        event_uuid = ids.new_id()
        body = emit.frozen(
            event_uuid=event_uuid,
            organization_id=decided.organization_id,
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
            at=decided.created_at,
        )
        bodies[payout.payout_id] = event_uuid, body
    runs.stage_events(
        organization_id=decided.organization_id,
        event_type=_CREATED,
        bodies=bodies,
        at=decided.created_at,
    )


def _enqueue(decided: Run, payouts: Sequence[RunPayout]) -> None:
    by_method = defaultdict[str, list[RunPayout]](list)
    for payout in payouts:
        by_method[payout.method].append(payout)
    for method, of_rail in by_method.items():
        rails.enqueue_transfers(
            organization_id=decided.organization_id,
            method=method,
            payout_ids=[payout.payout_id for payout in of_rail],
            run_at=decided.hold_until,
        )
