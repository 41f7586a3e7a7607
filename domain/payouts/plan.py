"""Decides who is paid what: the same plan is shown by a preview and carried out by a run.

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
#: The rate of that currency itself.
ONE = Decimal(1)
_SHOWN = Context(prec=15)


class Blocked(StrEnum):
    """Why a candidate is not paid; the first reason that holds is shown."""

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
    """A reference rate that is fresh enough to pay by: major units of its currency per 1 USD."""

    per_usd: Decimal
    on: date

    def is_shown_as(self, other: "RunRate") -> bool:
        """Say whether another rate is this one as an answer shows it: JSON numbers keep fifteen digits."""
        return self.on == other.on and _SHOWN.plus(self.per_usd) == _SHOWN.plus(other.per_usd)


@dataclass(frozen=True, slots=True)
class Payee:
    """An affiliate as a run sees them. `method` None: they have said nowhere to be paid.

    The minimum is in minor units of `minimum_currency`; both None: there is no minimum. `has_restored_debt`: something
    was paid before a restore that is not netted yet.
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

    `payout_cents` are US cents: the sum of the lines that a run would write, each converted and rounded alone; 0
    without a rate to pay by.
    """

    affiliate_id: UUID
    currency: str
    cents: int
    payout_cents: int


@dataclass(frozen=True, slots=True)
class RunTerms:
    """What holds for every candidate. `rates` has no currency without a fresh rate; USD need not be in it."""

    home_currency: str
    rates: Mapping[str, RunRate]
    is_tax_form_required: bool


class PayoutCandidate(NamedTuple):
    """One affiliate in one currency, and why they are not paid; None: they are.

    `payout_cents` is that of `Due`, whether the candidate is paid or not.
    """

    payee: Payee
    currency: str
    cents: int
    payout_cents: int
    blocked: Blocked | None

    @property
    def is_ready(self) -> bool:
        """Whether a run pays it."""
        return self.blocked is None


@dataclass(frozen=True, slots=True)
class Planned:
    """The candidates of a run, the rates it would pay by, and the currencies that have none that is fresh."""

    candidates: Sequence[PayoutCandidate]
    rates: Mapping[str, RunRate]
    unavailable: Sequence[str]

    @property
    def ready(self) -> list[PayoutCandidate]:
        """Whom a run pays, and in which currencies."""
        return [candidate for candidate in self.candidates if candidate.is_ready]

    @property
    def native_totals(self) -> dict[str, int]:
        """What a run would pay, by currency in native minor units: exactly what is to be confirmed."""
        totals: defaultdict[str, int] = defaultdict(int)
        for candidate in self.ready:
            totals[candidate.currency] += candidate.cents
        return dict(sorted(totals.items()))

    @property
    def confirm_total_cents(self) -> int:
        """The raw sum of those over all currencies; 0 where a netted debt is the larger number."""
        return max(0, sum(self.native_totals.values()))

    @property
    def payouts(self) -> dict[UUID, int]:
        """The payout of each affiliate whom a run pays, in US cents: the sum of its lines, one cent at least."""
        return _payout_sums(self.candidates)

    @property
    def payout_total_cents(self) -> int:
        """The sum of all payouts, in US cents. Previews, runs, pages and emails all show this figure."""
        return sum(self.payouts.values())

    def on_rail(self, method: str) -> "Planned":
        """Return the same without whom another method pays."""
        kept = [candidate for candidate in self.candidates if candidate.payee.method == method]
        return replace(self, candidates=kept)


def plan(*, dues: Sequence[Due], payees: Mapping[UUID, Payee], terms: RunTerms) -> Planned:
    """Return a candidate per due, in the order given, with the rates that they need.

    Debts are netted within their currency before this; what is left of one stays for a later run. One from before a
    restore is netted with the affiliate's other currencies as well. The minimum is compared with everything that an
    affiliate would be paid at once, in the home currency. An affiliate whose lines add up to less than one US cent is
    not paid either, so the candidates that are ready are exactly those that a run pays.
    """
    candidates = _net_restored([_candidate(due, payees[due.affiliate_id], terms) for due in dues], terms)
    candidates = _block(candidates, _below_minimum(candidates, terms), Blocked.below_minimum)
    candidates = _block(candidates, _below_one_cent(candidates), Blocked.below_one_cent)
    currencies = {due.currency for due in dues}
    return Planned(
        candidates=candidates,
        rates={currency: rate for currency, rate in terms.rates.items() if currency in currencies},
        unavailable=sorted(currencies - terms.rates.keys()),
    )


def run_rates(published: Iterable[PublishedRate], *, today: date) -> dict[str, RunRate]:
    """Return the rates to pay by, the newest of each currency; what was published too long ago is left out.

    The payout currency itself is 1 on any day.
    """
    fresh = [rate for rate in published if rate.on >= today - timedelta(days=valuation.FRESH_DAYS)]
    rates = {rate.currency: RunRate(rate.per_usd, rate.on) for rate in sorted(fresh, key=lambda rate: rate.on)}
    return rates | {PAYOUT_CURRENCY: RunRate(ONE, today)}


def usd_factor(currency: str, rate: Decimal) -> Fraction:
    """Return what native minor units are multiplied with to be US cents, exactly."""
    return Fraction(100) / (10 ** currencies.exponent(currency) * Fraction(rate))


def _candidate(due: Due, payee: Payee, terms: RunTerms) -> PayoutCandidate:
    return PayoutCandidate(payee, due.currency, due.cents, due.payout_cents, _blocked(due, payee, terms))


def _block(candidates: list[PayoutCandidate], affiliate_ids: set[UUID], reason: Blocked) -> list[PayoutCandidate]:
    """Return the candidates with those of some affiliates blocked that were ready."""
    if not affiliate_ids:
        return candidates
    return [
        one._replace(blocked=reason) if one.is_ready and one.payee.affiliate_id in affiliate_ids else one
        for one in candidates
    ]


def _blocked(due: Due, payee: Payee, terms: RunTerms) -> Blocked | None:
    # One after another: tens of thousands are asked, and most of them nothing holds back.
    if payee.is_test:
        return Blocked.test_affiliate
    if not payee.is_approved:
        return Blocked.affiliate_not_approved
    if due.cents <= 0:
        return Blocked.negative_balance
    if due.currency != PAYOUT_CURRENCY and due.currency not in terms.rates:
        return Blocked.fx_unavailable
    if payee.method is None:
        return Blocked.no_payout_account
    if terms.is_tax_form_required and not payee.has_tax_form:
        return Blocked.tax_form_required
    return None


def _net_restored(candidates: list[PayoutCandidate], terms: RunTerms) -> list[PayoutCandidate]:
    """Return the candidates; whoever was paid before a restore is paid the difference over all currencies, or nothing.

    A rail need not say in which currency a payment was earned, so the debt may be in another one than the sales that it
    paid for. A debt that no fresh rate can value holds back everything.
    """
    per_usd = _per_usd(terms.rates)
    reasons: dict[UUID, Blocked | None] = {}
    for affiliate_id, theirs in _with_restored_debt(candidates).items():
        total = _exact_total(theirs, PAYOUT_CURRENCY, per_usd)
        pays = total is not None and total > 0
        reasons[affiliate_id] = None if pays else Blocked.negative_balance
    return [
        one._replace(blocked=reasons[one.payee.affiliate_id])
        if one.payee.affiliate_id in reasons and _is_netted(one)
        else one
        for one in candidates
    ]


def _with_restored_debt(candidates: Iterable[PayoutCandidate]) -> dict[UUID, list[PayoutCandidate]]:
    """Return what is netted together, by affiliate, where there are debts and something to net them with."""
    netted: defaultdict[UUID, list[PayoutCandidate]] = defaultdict(list)
    for one in candidates:
        if one.payee.has_restored_debt and _is_netted(one):
            netted[one.payee.affiliate_id].append(one)
    return {
        affiliate_id: theirs
        for affiliate_id, theirs in netted.items()
        if any(one.is_ready for one in theirs) and not all(one.is_ready for one in theirs)
    }


def _is_netted(candidate: PayoutCandidate) -> bool:
    return candidate.is_ready or candidate.blocked == Blocked.negative_balance


def _below_minimum(candidates: Sequence[PayoutCandidate], terms: RunTerms) -> set[UUID]:
    """Return the affiliates whose ready candidates together come to less than their minimum.

    A minimum or a home currency that no fresh rate can value keeps nobody's money back.
    """
    per_usd = _per_usd(terms.rates)
    ready: defaultdict[UUID, list[PayoutCandidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.is_ready and candidate.payee.minimum_cents:
            ready[candidate.payee.affiliate_id].append(candidate)

    short = set()
    for affiliate_id, theirs in ready.items():
        payee = theirs[0].payee
        least = fx.convert_exactly(
            amount_cents=payee.minimum_cents or 0,
            from_currency=payee.minimum_currency or terms.home_currency,
            to_currency=terms.home_currency,
            per_usd=per_usd,
        )
        total = _exact_total(theirs, terms.home_currency, per_usd)
        if least is not None and total is not None and total < least:
            short.add(affiliate_id)
    return short


def _below_one_cent(candidates: Iterable[PayoutCandidate]) -> set[UUID]:
    """Return the affiliates for whom a run would write no payout: their lines add up to less than one US cent."""
    return {affiliate_id for affiliate_id, cents in _payout_sums(candidates).items() if cents < 1}


def _payout_sums(candidates: Iterable[PayoutCandidate]) -> dict[UUID, int]:
    sums: defaultdict[UUID, int] = defaultdict(int)
    for one in candidates:
        if one.is_ready:
            sums[one.payee.affiliate_id] += one.payout_cents
    return dict(sums)


def _exact_total(
    candidates: Iterable[PayoutCandidate], to_currency: str, per_usd: Mapping[str, Decimal]
) -> Fraction | None:
    """Return what candidates come to together; None where a rate is missing."""
    amounts = [
        fx.convert_exactly(amount_cents=one.cents, from_currency=one.currency, to_currency=to_currency, per_usd=per_usd)
        for one in candidates
    ]
    return None if None in amounts else sum(filter(None, amounts), Fraction(0))


def _per_usd(rates: Mapping[str, RunRate]) -> dict[str, Decimal]:
    return {name: rate.per_usd for name, rate in rates.items()}
