"""The check of a run before it is created: the gates are open, and the confirmed totals are exactly what is due.

Source: core spec, "Payouts", run and its additional 409 codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.payouts import gates
from domain.payouts.gates import PayoutFacts
from domain.payouts.plan import PAYOUT_CURRENCY, PayoutPlan, RunRate
from domain.payouts.states import ReviewStatus
from domain.refusals import Refused


@dataclass(frozen=True, slots=True)
class RunFilters:
    """The filters of a run; None does not filter. Debts of the affiliates that it covers always count.

    `since` is the earliest time at which a conversion occurred.
    """

    affiliate_ids: tuple[UUID, ...] | None = None
    program_id: UUID | None = None
    since: datetime | None = None
    conversion_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request for a run; without values, for everything that is due.

    `confirm_total_cents` None: all that is due is confirmed (an automatic cadence, confirmed by an Owner in advance);
    `confirm_totals` None: only the raw sum is confirmed; `confirm_payout_cents` None: any payout total in US cents is
    accepted; `confirm_rates` None: any fresh rates are accepted. `method` None pays every affiliate on their own rail.
    `confirmed_by` None: the automatic cadence. `shown_filters` is the display form of the filters.
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
        """Whether it has no filter and no method."""
        return self.method is None and self.filters == RunFilters()


@dataclass(frozen=True, slots=True)
class Run:
    """A new run. `confirmed_totals` are native minor units by currency, `confirmed_cents` their raw sum.

    `review_status` is Pending if the operator must review it, else None.
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
    planned: PayoutPlan,
    standing: PayoutFacts,
    now: datetime,
) -> Run:
    """Return the run of a plan.

    Raises Refused 409: the gates' codes in their order, then confirm_total_mismatch, nothing_to_pay.
    """
    total_cents = planned.payout_total_cents
    gates.check(standing, total_cents=total_cents)
    _check_total(planned, request, total_cents)
    _check_rates(planned, request, total_cents)
    _check_payouts(request, total_cents)
    if not total_cents:
        raise Refused(409, "nothing_to_pay", "Nothing is due and ready to be paid. The preview says why.")
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


def _check_total(planned: PayoutPlan, request: RunRequest, payout_cents: int) -> None:
    totals, total, confirmed = planned.native_totals, planned.confirm_total_cents, request.confirm_total_cents
    if confirmed is None or (confirmed == total and request.confirm_totals in (None, totals)):
        return
    message = f"The total is now {total}, but {confirmed} was confirmed. Preview again, then confirm."
    raise _mismatch(message, payout_cents, expectedTotalCents=total, nativeTotalsForRun=totals)


def _check_rates(planned: PayoutPlan, request: RunRequest, payout_cents: int) -> None:
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
        message = f"The rate of {', '.join(changed)} has changed. Preview again, then confirm."
        raise _mismatch(message, payout_cents, changedFxRates=changed)


def _check_payouts(request: RunRequest, payout_cents: int) -> None:
    confirmed = request.confirm_payout_cents
    if confirmed in (None, payout_cents):
        return
    message = f"The payouts now total {payout_cents} US cents, but {confirmed} were confirmed. Preview again."
    raise _mismatch(message, payout_cents)


def _mismatch(message: str, payout_cents: int, **more: Any) -> Refused:
    return Refused(409, "confirm_total_mismatch", message, payoutTotalUsdCents=payout_cents, **more)
