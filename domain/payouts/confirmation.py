"""Decides whether a run is made: the gates are open, and what was confirmed is exactly what is due.

Source: core spec, "Payouts", run and its additional 409 codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.payouts import gates
from domain.payouts.gates import PayoutStanding
from domain.payouts.plan import PAYOUT_CURRENCY, Planned, RunRate
from domain.payouts.states import ReviewStatus
from domain.refused import Refused


@dataclass(frozen=True, slots=True)
class RunFilters:
    """What a run is narrowed to; None leaves a column alone. Debts of the affiliates it covers always count.

    `since` is when a conversion occurred, at the earliest.
    """

    affiliate_ids: tuple[UUID, ...] | None = None
    program_id: UUID | None = None
    since: datetime | None = None
    conversion_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run is asked for; without values, everything that is due.

    `confirm_total_cents` None: all that is due is confirmed (an automatic cadence, on an Owner's word given before);
    `confirm_totals` None: the raw sum alone is; `confirm_payout_cents` None: whatever the payouts come to in US cents;
    `confirm_rates` None: any fresh rates will do. `method` None pays everybody on the rail that they have.
    `confirmed_by` None: the automatic cadence. `shown_filters` is how the filters are told later.
    """

    confirm_total_cents: int | None = None
    confirm_totals: Mapping[str, int] | None = None
    confirm_payout_cents: int | None = None
    confirm_rates: Mapping[str, RunRate] | None = None
    filters: RunFilters = RunFilters()
    method: str | None = None
    notes: str | None = None
    external_transaction_id: str | None = None
    confirmed_by: UUID | None = None
    shown_filters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_for_everything(self) -> bool:
        """Whether nothing narrows it."""
        return self.method is None and self.filters == RunFilters()


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is made. `confirmed_totals` are native minor units by currency, `confirmed_cents` their raw sum.

    `review_status` is Pending while the operator is to look at it, else None.
    """

    id: UUID
    organization_id: UUID
    confirmed_by: UUID | None
    confirmed_cents: int
    confirmed_totals: Mapping[str, int]
    filters: Mapping[str, Any]
    notes: str | None
    external_transaction_id: str | None
    review_status: ReviewStatus | None
    hold_until: datetime | None
    created_at: datetime


def decide(
    *,
    run_id: UUID,
    organization_id: UUID,
    request: RunRequest,
    planned: Planned,
    standing: PayoutStanding,
    now: datetime,
) -> Run:
    """Return the run that a plan makes.

    Raises Refused 409: the gates' codes in their order, then confirm_total_mismatch, nothing_to_pay.
    """
    total_cents = planned.payout_total_cents
    gates.check(standing, total_cents=total_cents)
    _check_total(planned, request, total_cents)
    _check_rates(planned, request, total_cents)
    _check_payouts(request, total_cents)
    if not total_cents:
        raise Refused(409, "nothing_to_pay", "Nothing is due and ready to be paid; the preview says why.")
    return Run(
        id=run_id,
        organization_id=organization_id,
        confirmed_by=request.confirmed_by,
        confirmed_cents=planned.confirm_total_cents,
        confirmed_totals=planned.native_totals,
        filters=request.shown_filters,
        notes=request.notes,
        external_transaction_id=request.external_transaction_id,
        review_status=ReviewStatus.Pending if standing.needs_review else None,
        hold_until=gates.hold_until(standing, now=now),
        created_at=now,
    )


def _check_total(planned: Planned, request: RunRequest, payout_cents: int) -> None:
    totals, total, confirmed = planned.native_totals, planned.confirm_total_cents, request.confirm_total_cents
    if confirmed is None or (confirmed == total and request.confirm_totals in (None, totals)):
        return
    message = f"The total is {total} now and {confirmed} was confirmed; preview again, then confirm."
    raise _mismatch(message, payout_cents, expectedTotalCents=total, nativeTotalsForRun=totals)


def _check_rates(planned: Planned, request: RunRequest, payout_cents: int) -> None:
    confirmed = request.confirm_rates
    if confirmed is None:
        return
    changed = [
        currency
        for currency in planned.native_totals
        if currency != PAYOUT_CURRENCY
        and not (currency in confirmed and planned.rates[currency].is_shown_as(confirmed[currency]))
    ]
    if changed:
        message = f"The rate of {', '.join(changed)} is another one now; preview again, then confirm."
        raise _mismatch(message, payout_cents, changedFxRates=changed)


def _check_payouts(request: RunRequest, payout_cents: int) -> None:
    confirmed = request.confirm_payout_cents
    if confirmed in (None, payout_cents):
        return
    message = f"The payouts come to {payout_cents} US cents now and {confirmed} were confirmed; preview again."
    raise _mismatch(message, payout_cents)


def _mismatch(message: str, payout_cents: int, **more: Any) -> Refused:
    return Refused(409, "confirm_total_mismatch", message, payoutTotalUsdCents=payout_cents, **more)
