"""What is due to be paid and to whom: read for a preview, claimed for a run, planned the same way for both.

Source: core spec, "Payouts", preview.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from domain.money import valuation
from domain.payouts import plan
from domain.payouts.confirmation import RunFilters
from domain.payouts.plan import Due, Planned, RunRate
from models.money import fx_rates
from models.organization import organizations
from models.organization.organizations import Organization
from models.payouts import candidates
from models.payouts.candidates import Eligible


@dataclass(frozen=True, slots=True)
class PayoutPreview:
    """What a run would pay now. Nothing is committed by asking. `eligible` is in the order of the candidates."""

    planned: Planned
    eligible: Sequence[Eligible]
    organization: Organization


def preview(*, organization_id: UUID, filters: RunFilters, method: str | None = None, now: datetime) -> PayoutPreview:
    """Return what a run with these filters would pay now.

    Budget: 7 round trips, however much is due.
    """
    organization = organizations.find(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    found, first = candidates.currencies_and_first(organization_id)
    factors = _factors(organization.home_currency, found, first or now)
    eligible = candidates.eligible(organization_id=organization_id, filters=filters, factors=factors, now=now)
    planned = _plan(organization, [part.due for part in eligible], now=now)
    if method is not None:
        planned = planned.on_rail(method)
        kept = {(candidate.payee.affiliate_id, candidate.currency) for candidate in planned.candidates}
        eligible = [part for part in eligible if (part.due.affiliate_id, part.due.currency) in kept]
    return PayoutPreview(planned, eligible, organization)


def claim(*, organization: Organization, filters: RunFilters, method: str | None, now: datetime) -> Planned:
    """Take down what is due and plan it; call under the run's turn. Later statements see exactly this."""
    dues = candidates.claim(organization_id=organization.id, filters=filters, now=now)
    planned = _plan(organization, dues, now=now)
    return planned if method is None else planned.on_rail(method)


def _plan(organization: Organization, dues: Sequence[Due], *, now: datetime) -> Planned:
    payees = candidates.payees(organization_id=organization.id, affiliate_ids=[due.affiliate_id for due in dues])
    minimums = {payee.minimum_currency for payee in payees.values() if payee.minimum_currency}
    currencies = {due.currency for due in dues}
    terms = plan.RunTerms(
        home_currency=organization.home_currency,
        rates=_fresh_rates({*currencies, *minimums, organization.home_currency}, today=_day(now)),
        is_tax_form_required=organization.tax_form_required,
    )
    return plan.plan(dues=dues, payees=payees, terms=terms)


def _fresh_rates(currencies: Iterable[str], *, today: date) -> dict[str, RunRate]:
    """Return the rates to pay by; USD is 1 on any day. What was published too long ago is left out."""
    since = today - timedelta(days=valuation.FRESH_DAYS)
    wanted = set(currencies)
    rates = {
        currency: RunRate(per_usd, published_on)
        for currency, (per_usd, published_on) in fx_rates.newest_since(wanted - {"USD"}, since=since).items()
    }
    return rates | ({"USD": RunRate(plan.ONE, today)} if "USD" in wanted else {})


def _factors(home: str, currencies: Sequence[str], first: datetime) -> valuation.Factors:
    since = _day(first) - timedelta(days=valuation.FRESH_DAYS)
    published = fx_rates.published(currencies=[*currencies, home], since=since)
    return valuation.factors(home=home, currencies=currencies, published=published)


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
