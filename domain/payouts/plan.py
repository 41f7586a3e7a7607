"""The plan of who is paid what, the same for a preview and for a run.

Source: core spec, "Payouts", preview response fields and run; a candidate is one affiliate in one currency.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple
from uuid import UUID

from domain.money import currencies, fx, valuation
from domain.money.valuation import PublishedRate

#: The currency of every payout.
PAYOUT_CURRENCY = "USD"
#: The rate of that currency.
USD_RATE = Decimal(1)
_SHOWN = Context(prec=15)


class BlockReason(StrEnum):
    """Why a candidate is not paid; the first reason that applies counts."""

    test_affiliate = "test_affiliate"
    affiliate_not_approved = "affiliate_not_approved"
    negative_balance = "negative_balance"
    fx_unavailable = "fx_unavailable"
    no_payout_account = "no_payout_account"
    tax_form_required = "tax_form_required"
    below_minimum = "below_minimum"
    below_one_cent = "below_one_cent"


@dataclass(frozen=True, slots=True)
class RunRate:
    """A reference rate recent enough for payouts: major units of its currency per 1 USD."""

    per_usd: Decimal
    on: date

    def is_shown_as(self, other: "RunRate") -> bool:
        """Return whether another rate equals this one in a response: JSON numbers keep fifteen digits."""
        return self.on == other.on and _SHOWN.plus(self.per_usd) == _SHOWN.plus(other.per_usd)


@dataclass(frozen=True, slots=True)
class Payee:
    """The facts about an affiliate for a run. `method` None: they have no payout account.

    The minimum is in minor units of `minimum_currency`; both None: no minimum. `has_restored_debt`: a payment from
    before a restore is not netted yet.
    """

    affiliate_id: UUID
    program_id: UUID
    email: str
    full_name: str
    is_approved: bool
    is_test: bool
    method: str | None
    destination: str | None
    has_tax_form: bool
    has_restored_debt: bool
    minimum_cents: int | None
    minimum_currency: str | None


class Due(NamedTuple):
    """Amount owed to one affiliate in one currency, in its minor units, after reversals; a debt is negative.

    `payout_cents` are US cents: the sum of the lines that a run would write, each converted and rounded separately; 0
    without a fresh rate.
    """

    affiliate_id: UUID
    currency: str
    cents: int
    payout_cents: int


@dataclass(frozen=True, slots=True)
class RunTerms:
    """The terms for all candidates. `rates` contains no currency without a fresh rate; USD may be missing."""

    home_currency: str
    rates: Mapping[str, RunRate]
    is_tax_form_required: bool


class PayoutCandidate(NamedTuple):
    """One affiliate in one currency, and why they are not paid (None: they are).

    `payout_cents` is that of `Due`, whether the candidate is paid or not.
    """

    payee: Payee
    currency: str
    cents: int
    payout_cents: int
    blocked: BlockReason | None

    @property
    def is_ready(self) -> bool:
        """Whether a run pays it."""
        return self.blocked is None


@dataclass(frozen=True, slots=True)
class PayoutPlan:
    """The candidates of a run, the rates that it would use, and the currencies without a fresh rate."""

    candidates: Sequence[PayoutCandidate]
    rates: Mapping[str, RunRate]
    unavailable: Sequence[str]

    @property
    def ready_candidates(self) -> list[PayoutCandidate]:
        """The candidates that a run pays."""
        return [candidate for candidate in self.candidates if candidate.is_ready]

    @property
    def native_totals(self) -> dict[str, int]:
        """The totals that a run would pay, by currency in native minor units: exactly what must be confirmed."""
        totals: defaultdict[str, int] = defaultdict(int)
        for candidate in self.ready_candidates:
            totals[candidate.currency] += candidate.cents
        return dict(sorted(totals.items()))

    @property
    def confirm_total_cents(self) -> int:
        """The raw sum of the native totals over all currencies; 0 where a netted debt is larger."""
        return max(0, sum(self.native_totals.values()))

    @property
    def payouts(self) -> dict[UUID, int]:
        """The payout of each affiliate whom a run pays, in US cents: the sum of its lines, at least one cent."""
        return _payout_sums(self.candidates)

    @property
    def payout_total_cents(self) -> int:
        """The sum of all payouts, in US cents. Previews, runs, pages and emails all show this amount."""
        return sum(self.payouts.values())

    def for_method(self, method: str) -> "PayoutPlan":
        """Return the plan with only the candidates of one method."""
        candidates = [candidate for candidate in self.candidates if candidate.payee.method == method]
        return replace(self, candidates=candidates)


def plan(*, dues: Sequence[Due], payees: Mapping[UUID, Payee], terms: RunTerms) -> PayoutPlan:
    """Return a candidate per due, in the order given, with the rates that they need.

    Debts were netted within their currency before; the rest of a debt stays for a later run. A debt from before a
    restore is netted with the affiliate's other currencies as well. The minimum is compared with the sum that an
    affiliate would be paid in the run, in the home currency. An affiliate whose lines add up to less than one US cent
    is not paid either, so the ready candidates are exactly those that a run pays.
    """
    candidates = _net_restored([_candidate(due, payees[due.affiliate_id], terms) for due in dues], terms)
    candidates = _block(candidates, _find_below_minimum(candidates, terms), BlockReason.below_minimum)
    candidates = _block(candidates, _find_below_one_cent(candidates), BlockReason.below_one_cent)
    currencies = {due.currency for due in dues}
    return PayoutPlan(
        candidates=candidates,
        rates={currency: rate for currency, rate in terms.rates.items() if currency in currencies},
        unavailable=sorted(currencies - terms.rates.keys()),
    )


def select_rates(published: Iterable[PublishedRate], *, today: date) -> dict[str, RunRate]:
    """Return the newest rate of each currency, without those published too long ago.

    The payout currency itself is 1 on any day.
    """
    fresh = [rate for rate in published if rate.on >= today - timedelta(days=valuation.FRESH_DAYS)]
    rates = {rate.currency: RunRate(rate.per_usd, rate.on) for rate in sorted(fresh, key=lambda rate: rate.on)}
    return rates | {PAYOUT_CURRENCY: RunRate(USD_RATE, today)}


def usd_factor(currency: str, rate: Decimal) -> Fraction:
    """Return the exact factor from native minor units to US cents."""
    return Fraction(100) / (10 ** currencies.exponent(currency) * Fraction(rate))


def _candidate(due: Due, payee: Payee, terms: RunTerms) -> PayoutCandidate:
    return PayoutCandidate(payee, due.currency, due.cents, due.payout_cents, _find_block(due, payee, terms))


def _block(candidates: list[PayoutCandidate], affiliate_ids: set[UUID], reason: BlockReason) -> list[PayoutCandidate]:
    """Return the candidates, with the ready ones of some affiliates blocked."""
    if not affiliate_ids:
        return candidates
    return [
        candidate._replace(blocked=reason)
        if candidate.is_ready and candidate.payee.affiliate_id in affiliate_ids
        else candidate
        for candidate in candidates
    ]


def _find_block(due: Due, payee: Payee, terms: RunTerms) -> BlockReason | None:
    # A chain of comparisons is the fastest: there are tens of thousands of candidates, and most are not blocked.
    if payee.is_test:
        return BlockReason.test_affiliate
    if not payee.is_approved:
        return BlockReason.affiliate_not_approved
    if due.cents <= 0:
        return BlockReason.negative_balance
    if due.currency != PAYOUT_CURRENCY and due.currency not in terms.rates:
        return BlockReason.fx_unavailable
    if payee.method is None:
        return BlockReason.no_payout_account
    if terms.is_tax_form_required and not payee.has_tax_form:
        return BlockReason.tax_form_required
    return None


def _net_restored(candidates: list[PayoutCandidate], terms: RunTerms) -> list[PayoutCandidate]:
    """Return the candidates; affiliates paid before a restore get the difference over all currencies, or nothing.

    A rail may not report in which currency a payment was earned, so the debt may be in another currency than the sales
    that it paid for. A debt without a fresh rate blocks all of an affiliate's candidates.
    """
    per_usd = _per_usd(terms.rates)
    reasons: dict[UUID, BlockReason | None] = {}
    for affiliate_id, group in _group_restored_debts(candidates).items():
        total = _exact_total(group, PAYOUT_CURRENCY, per_usd)
        pays = total is not None and total > 0
        reasons[affiliate_id] = None if pays else BlockReason.negative_balance
    return [
        candidate._replace(blocked=reasons[candidate.payee.affiliate_id])
        if candidate.payee.affiliate_id in reasons and _is_netted(candidate)
        else candidate
        for candidate in candidates
    ]


def _group_restored_debts(candidates: Iterable[PayoutCandidate]) -> dict[UUID, list[PayoutCandidate]]:
    """Return the candidates to net with each other, by affiliate, where there are both debts and ready candidates."""
    groups: defaultdict[UUID, list[PayoutCandidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.payee.has_restored_debt and _is_netted(candidate):
            groups[candidate.payee.affiliate_id].append(candidate)
    return {
        affiliate_id: group
        for affiliate_id, group in groups.items()
        if any(candidate.is_ready for candidate in group) and not all(candidate.is_ready for candidate in group)
    }


def _is_netted(candidate: PayoutCandidate) -> bool:
    return candidate.is_ready or candidate.blocked == BlockReason.negative_balance


def _find_below_minimum(candidates: Sequence[PayoutCandidate], terms: RunTerms) -> set[UUID]:
    """Return the affiliates whose ready candidates add up to less than their minimum.

    A minimum or a home currency without a fresh rate blocks no one.
    """
    per_usd = _per_usd(terms.rates)
    ready: defaultdict[UUID, list[PayoutCandidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.is_ready and candidate.payee.minimum_cents:
            ready[candidate.payee.affiliate_id].append(candidate)

    below = set()
    for affiliate_id, group in ready.items():
        payee = group[0].payee
        minimum = fx.convert_exactly(
            amount_cents=payee.minimum_cents or 0,
            from_currency=payee.minimum_currency or terms.home_currency,
            to_currency=terms.home_currency,
            per_usd=per_usd,
        )
        total = _exact_total(group, terms.home_currency, per_usd)
        if minimum is not None and total is not None and total < minimum:
            below.add(affiliate_id)
    return below


def _find_below_one_cent(candidates: Iterable[PayoutCandidate]) -> set[UUID]:
    """Return the affiliates whose lines add up to less than one US cent, for whom a run would write no payout."""
    return {affiliate_id for affiliate_id, cents in _payout_sums(candidates).items() if cents < 1}


def _payout_sums(candidates: Iterable[PayoutCandidate]) -> dict[UUID, int]:
    sums: defaultdict[UUID, int] = defaultdict(int)
    for candidate in candidates:
        if candidate.is_ready:
            sums[candidate.payee.affiliate_id] += candidate.payout_cents
    return dict(sums)


def _exact_total(
    candidates: Iterable[PayoutCandidate], to_currency: str, per_usd: Mapping[str, Decimal]
) -> Fraction | None:
    """Return the exact sum of candidates in a currency; None where a rate is missing."""
    amounts = [
        fx.convert_exactly(
            amount_cents=candidate.cents, from_currency=candidate.currency, to_currency=to_currency, per_usd=per_usd
        )
        for candidate in candidates
    ]
    return None if None in amounts else sum(filter(None, amounts), Fraction(0))


def _per_usd(rates: Mapping[str, RunRate]) -> dict[str, Decimal]:
    return {name: rate.per_usd for name, rate in rates.items()}
