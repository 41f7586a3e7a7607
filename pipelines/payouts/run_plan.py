"""Plans payouts: reads what is due for a preview, claims it for a run, and plans both in the same way.

Source: core spec, "Payouts", preview.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from domain.money import currencies, valuation
from domain.money.valuation import PublishedRate
from domain.payouts import plan
from domain.payouts.confirmation import RunFilters
from domain.payouts.plan import Due, Payee, PayoutPlan, RunRate
from models.money import fx_rates
from models.organization import organizations
from models.organization.organizations import Organization
from models.payouts import candidates
from models.payouts.candidates import EligibleSum


@dataclass(frozen=True, slots=True)
class PayoutPreview:
    """The payouts of a run now; a preview changes nothing. `eligible` is in the order of the candidates."""

    planned: PayoutPlan
    eligible: Sequence[EligibleSum]
    organization: Organization


def preview(
    *,
    organization_id: UUID,
    filters: RunFilters,
    method: str | None = None,
    with_ids: bool = True,
    now: datetime,
) -> PayoutPreview:
    """Return what a run with these filters would pay now; without the ids of conversions it is faster for many of them.

    Budget: 7 round trips, however much is due.
    """
    organization = organizations.find(organization_id)
    if organization is None:
        raise LookupError(f"there is no organization {organization_id}")
    due_currencies, first = candidates.find_currencies_and_first(organization_id)
    rate_currencies = {*due_currencies, organization.home_currency}
    since = min(_day(first or now), _day(now)) - timedelta(days=valuation.FRESH_DAYS)
    published = fx_rates.list_published(currencies=sorted(rate_currencies), since=since)
    rates = plan.select_rates(published, today=_day(now))
    eligible = candidates.list_eligible(
        organization_id=organization_id,
        filters=filters,
        factors=valuation.compute_factors(
            home=organization.home_currency, currencies=due_currencies, published=published
        ),
        run_rates=rates,
        with_ids=with_ids,
        now=now,
    )
    dues = [part.due for part in eligible]
    payees = _read_payees(organization, dues)
    rates |= _read_fresh_rates(_minimum_currencies(payees) - rate_currencies, today=_day(now))
    planned = _plan_payouts(organization, dues, payees, rates)
    if method is not None:
        planned = planned.for_method(method)
        on_rail = {(candidate.payee.affiliate_id, candidate.currency) for candidate in planned.candidates}
        eligible = [part for part in eligible if (part.due.affiliate_id, part.due.currency) in on_rail]
    return PayoutPreview(planned, eligible, organization)


def claim(*, organization: Organization, filters: RunFilters, method: str | None, now: datetime) -> PayoutPlan:
    """Claim what is due and plan it; called under the run's lock. Later statements see exactly the claimed amounts."""
    rates = _read_fresh_rates(currencies.EXPONENTS.keys(), today=_day(now))
    dues = candidates.claim(organization_id=organization.id, filters=filters, run_rates=rates, now=now)
    planned = _plan_payouts(organization, dues, _read_payees(organization, dues), rates)
    return planned if method is None else planned.for_method(method)


def _read_payees(organization: Organization, dues: Sequence[Due]) -> dict[UUID, Payee]:
    return candidates.find_payees(organization_id=organization.id, affiliate_ids=[due.affiliate_id for due in dues])


def _minimum_currencies(payees: Mapping[UUID, Payee]) -> set[str]:
    return {payee.minimum_currency for payee in payees.values() if payee.minimum_currency}


def _plan_payouts(
    organization: Organization, dues: Sequence[Due], payees: Mapping[UUID, Payee], rates: Mapping[str, RunRate]
) -> PayoutPlan:
    terms = plan.RunTerms(
        home_currency=organization.home_currency,
        rates=rates,
        is_tax_form_required=organization.tax_form_required,
    )
    return plan.plan(dues=dues, payees=payees, terms=terms)


def _read_fresh_rates(codes: Set[str], *, today: date) -> dict[str, RunRate]:
    """Return the rates to pay by; USD is 1 on any day. Rates that are too old are left out."""
    foreign = codes - {plan.PAYOUT_CURRENCY}
    since = today - timedelta(days=valuation.FRESH_DAYS)
    newest = fx_rates.find_newest_since(foreign, since=since) if foreign else {}
    published = [PublishedRate(currency, on, per_usd) for currency, (per_usd, on) in newest.items()]
    return plan.select_rates(published, today=today)


def _day(time: datetime) -> date:
    return time.astimezone(UTC).date()
