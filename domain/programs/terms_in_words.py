"""The terms of a program in sentences that a person can check: the one wording of the API and of every page."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.money import wording
from domain.statuses import CommissionModel


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedTerms:
    """What the sentences are made from. `rate_currency` None: a Fixed rate is in each sale's own currency.

    The sale commission is what sales pay where clicks or leads are what the program pays for in the first place; fees
    besides are in minor units. `recurring_months` None: every payment of a customer earns; 0: the first one alone.
    """

    model: str
    rate_type: str
    rate_value: Decimal | float
    rate_currency: str | None
    sale_commission_type: str | None
    sale_commission_value: Decimal | float | None
    lead_bounty_cents: int | None
    lead_bounty_currency: str | None
    click_reward_cents: int | None
    click_reward_currency: str | None
    has_tiers: bool
    recurring_months: int | None
    recurring_delay_invoices: int


def sentences(terms: WordedTerms) -> str:
    """Return what is earned for what, such as "20 % of each payment in a customer's first 12 months."."""
    return " ".join(_sentences(terms))


def rate(type: str, value: Decimal | float, currency: str | None) -> str:
    """Return a rate: `20 %`, `7.50 USD`, or `7.5 in the sale's currency` for a Fixed one that has none of its own."""
    if type == CommissionType.Percentage:
        return f"{wording.plain(value)} %"
    return wording.major(value, currency) if currency else f"{wording.plain(value)} in the sale's currency"


def _sentences(terms: WordedTerms) -> Iterator[str]:
    more = ", more from certain sums on" if terms.has_tiers else ""
    if statuses.pays_on_sale(terms.model):
        yield f"{_of_payments(terms, terms.rate_type, terms.rate_value, terms.rate_currency)}{more}."
    else:
        what = "click" if terms.model == CommissionModel.Cpc else "lead"
        yield f"{rate(terms.rate_type, terms.rate_value, terms.rate_currency)} for each {what}{more}."
        if terms.sale_commission_type is not None and terms.sale_commission_value is not None:
            yield f"Besides, {_of_payments(terms, terms.sale_commission_type, terms.sale_commission_value, None)}."
    if terms.lead_bounty_cents and terms.model != CommissionModel.Cpl:
        yield f"Besides, {wording.money(terms.lead_bounty_cents, terms.lead_bounty_currency)} for each lead."
    if terms.click_reward_cents and terms.model != CommissionModel.Cpc:
        yield f"Besides, {wording.money(terms.click_reward_cents, terms.click_reward_currency)} for each click."


def _of_payments(terms: WordedTerms, type: str, value: Decimal | float, currency: str | None) -> str:
    said = f"{rate(type, value, currency)} {'of' if type == CommissionType.Percentage else 'for'} {_payments(terms)}"
    number = terms.recurring_delay_invoices
    if not number:
        return said
    return f"{said}, nothing for the first {'invoice' if number == 1 else f'{number} invoices'}"


def _payments(terms: WordedTerms) -> str:
    if terms.recurring_months is None:
        return "each payment"
    if terms.recurring_months == 0:
        return "a customer's first payment"
    months = "month" if terms.recurring_months == 1 else f"{terms.recurring_months} months"
    return f"each payment in a customer's first {months}"
