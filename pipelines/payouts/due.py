"""What is due to be paid and to whom: read for a preview, claimed for a run, planned the same way for both.

Source: core spec, "Payouts", preview.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from domain.money import valuation
from domain.payouts import gates
from domain.payouts import plan as payout_plan
from domain.payouts.plan import Candidate, Due, Rate
from models import fx_rates
from models.ledger import results
from models.organization import organizations
from models.organization.organizations import Organization
from models.payouts import candidates as payout_candidates
from models.payouts import runs
from models.payouts.candidates import Filters


@dataclass(frozen=True, slots=True)
class Planned:
    """The candidates of a run, the rates it would pay by, and the currencies that have none that is fresh."""

    candidates: list[Candidate]
    rates: dict[str, Rate]
    unavailable: list[str]

    @property
    def native_totals(self) -> dict[str, int]:
        """What is to be confirmed: native minor units by currency over what is ready."""
        return payout_plan.native_totals(self.candidates)

    @property
    def confirm_total_cents(self) -> int:
        """The raw sum of those, whatever their currencies."""
        return sum(self.native_totals.values())


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would pay now. Nothing is committed by asking. `eligible` is in the order of the candidates."""

    planned: Planned
    eligible: Sequence[payout_candidates.Eligible]
    organization: Organization
    usd_estimate_cents: int


def preview(*, organization_id: UUID, filters: Filters, method: str | None = None, now: datetime) -> Preview:
    """Return what a run with these filters would pay now.

    Budget: 7 round trips, however much is due.
    """
    organization = _organization(organization_id)
    found, first = payout_candidates.currencies_and_first(organization_id)
    factors = _factors(organization.home_currency, found, first or now)
    eligible = payout_candidates.eligible(organization_id=organization_id, filters=filters, factors=factors, now=now)
    planned = plan(organization, [part.due for part in eligible], now=now)
    if method is not None:
        planned = _on_rail(planned, method)
        kept = {(candidate.payee.affiliate_id, candidate.currency) for candidate in planned.candidates}
        eligible = [part for part in eligible if (part.due.affiliate_id, part.due.currency) in kept]
    return Preview(planned, eligible, organization, _usd(planned))


def claim(*, organization: Organization, filters: Filters, method: str | None, now: datetime) -> Planned:
    """Take down what is due and plan it; call under the run's turn. Later statements see exactly this."""
    dues = payout_candidates.claim(organization_id=organization.id, filters=filters, now=now)
    planned = plan(organization, dues, now=now)
    return planned if method is None else _on_rail(planned, method)


def plan(organization: Organization, dues: Sequence[Due], *, now: datetime) -> Planned:
    """Plan dues by the organization's rules and the rates that are fresh now."""
    found = payout_candidates.payees(organization_id=organization.id, affiliate_ids=[due.affiliate_id for due in dues])
    minimums = {payee.minimum_currency for payee in found.values() if payee.minimum_currency}
    currencies = {due.currency for due in dues}
    rates = fresh_rates({*currencies, *minimums, organization.home_currency}, today=_day(now))
    terms = payout_plan.Terms(
        home_currency=organization.home_currency,
        rates=rates,
        is_tax_form_required=organization.tax_form_required,
    )
    return Planned(
        candidates=payout_plan.plan(dues=dues, payees=found, terms=terms),
        rates={currency: rate for currency, rate in rates.items() if currency in currencies},
        unavailable=sorted(currencies - rates.keys()),
    )


def fresh_rates(currencies: Iterable[str], *, today: date) -> dict[str, Rate]:
    """Return the rates to pay by; USD is 1 on any day. What was published too long ago is left out."""
    since = today - timedelta(days=valuation.FRESH_DAYS)
    wanted = set(currencies)
    rates = {
        currency: Rate(per_usd, published_on)
        for currency, (per_usd, published_on) in fx_rates.newest_since(wanted - {"USD"}, since=since).items()
    }
    return rates | ({"USD": Rate(payout_plan.ONE, today)} if "USD" in wanted else {})


def standing(organization: Organization, *, now: datetime) -> gates.Standing:
    """Return the organization as the gates see it."""
    return gates.Standing(
        plan_tier=organization.plan_tier,
        subscription_status=organization.subscription_status,
        verification_state=organization.verification_state,
        fraud_score=organization.fraud_score,
        identity_required=organization.identity_required,
        identity_threshold=organization.identity_threshold,
        high_risk_threshold=organization.high_risk_threshold,
        funding_mode=organization.funding_mode,
        funding_frozen=organization.funding_frozen,
        needs_review=organization.payouts_need_review or results.is_doubtful(organization.id),
        hold_days=organization.payout_hold_days,
        cap_used_cents=runs.cap_used_cents(organization_id=organization.id, since=now - gates.WINDOW),
    )


def _organization(organization_id: UUID) -> Organization:
    organization = organizations.find(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    return organization


def _on_rail(planned: Planned, method: str) -> Planned:
    kept = [candidate for candidate in planned.candidates if candidate.payee.method == method]
    return Planned(kept, planned.rates, planned.unavailable)


def _usd(planned: Planned) -> int:
    totals = planned.native_totals.items()
    return sum(payout_plan.usd_cents(cents, currency, planned.rates) or 0 for currency, cents in totals)


def _factors(home: str, currencies: Sequence[str], first: datetime) -> valuation.Factors:
    since = _day(first) - timedelta(days=valuation.FRESH_DAYS)
    published = fx_rates.published(currencies=[*currencies, home], since=since)
    return valuation.factors(home=home, currencies=currencies, published=published)


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
