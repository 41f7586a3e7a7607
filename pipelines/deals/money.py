"""A deal's money in US cents, and the locks under which it is moved.

Payouts are in USD, so a deal in another currency is funded and paid only while that currency has a fresh rate.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from domain.money import money, valuation
from domain.payouts import plan
from domain.refusals import Refused
from models import advisory_locks
from models.deals.deals import Deal
from models.money import fx_rates
from pipelines.deals import offer


@dataclass(frozen=True, slots=True)
class DealRate:
    """Major units of a deal's currency per 1 USD, and the day of the rate."""

    per_usd: Decimal
    on: date


def lock_for_payment_request(*, organization_id: UUID, deal_id: UUID) -> Deal:
    """Return a deal, locked after the organization's payout locks. Raises Refused 404 not_found.

    No payout run, ban or other decision about its payouts runs at the same time, so caps are counted one by one. Needed
    to request money or to void a payout.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    return lock_to_pay(organization_id=organization_id, deal_id=deal_id)


def lock_to_pay(*, organization_id: UUID, deal_id: UUID) -> Deal:
    """Return a deal, locked as above except for payout runs, which pay other amounts and may run at the same time."""
    advisory_locks.stage_payout_decision_lock(organization_id)
    return offer.lock(organization_id=organization_id, deal_id=deal_id)


def find_rate(currency: str, *, now: datetime) -> DealRate:
    """Return today's rate of a deal's currency. Raises Refused 409 fx_unavailable when none is fresh enough."""
    today = now.astimezone(UTC).date()
    if currency == plan.PAYOUT_CURRENCY:
        return DealRate(plan.USD_RATE, today)
    row = fx_rates.find_newest_since({currency}, since=today - timedelta(days=valuation.FRESH_DAYS)).get(currency)
    if row is None:
        raise Refused(409, "fx_unavailable", f"There is no fresh rate for {currency}; try again when there is one.")
    return DealRate(*row)


def to_usd_cents(*, cents: int, currency: str, rate: DealRate) -> int:
    """Return minor units of a deal's currency in US cents, half to even."""
    exact = cents * plan.usd_factor(currency, rate.per_usd)
    return money.divide_half_even(exact.numerator, exact.denominator)
