"""The terms of a program in sentences for people: the one wording of the API and of every page."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.money import wording
from domain.statuses import CommissionModel


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedTerms:
    """The terms for the sentences. `rate_currency` None: a Fixed rate is in each sale's own currency.

    The sale commission is that of sales where clicks or leads are the primary; additional fees are in minor units.
    `recurring_months` None: every payment of a customer earns; 0: only the first one.
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


def describe(terms: DescribedTerms) -> str:
    """Return the terms as text, such as "20 % of each payment in a customer's first 12 months."."""
    return " ".join(_sentences(terms))


def format_rate(type: str, value: Decimal | float, currency: str | None) -> str:
    """Return a rate: `20 %`, `7.50 USD`, or `7.5 in the sale's currency` for a Fixed one without a currency."""
    if type == CommissionType.Percentage:
        return f"{wording.format_plain(value)} %"
    return (
        wording.format_major(value, currency) if currency else f"{wording.format_plain(value)} in the sale's currency"
    )


def _sentences(terms: DescribedTerms) -> Iterator[str]:
    more = ", more in higher tiers" if terms.has_tiers else ""
    if statuses.pays_on_sale(terms.model):
        yield f"{_describe_sales(terms, terms.rate_type, terms.rate_value, terms.rate_currency)}{more}."
    else:
        unit = "click" if terms.model == CommissionModel.Cpc else "lead"
        yield f"{format_rate(terms.rate_type, terms.rate_value, terms.rate_currency)} for each {unit}{more}."
        if terms.sale_commission_type is not None and terms.sale_commission_value is not None:
            yield f"Plus {_describe_sales(terms, terms.sale_commission_type, terms.sale_commission_value, None)}."
    if terms.lead_bounty_cents and terms.model != CommissionModel.Cpl:
        yield f"Plus {wording.format_money(terms.lead_bounty_cents, terms.lead_bounty_currency)} for each lead."
    if terms.click_reward_cents and terms.model != CommissionModel.Cpc:
        yield f"Plus {wording.format_money(terms.click_reward_cents, terms.click_reward_currency)} for each click."


def _describe_sales(terms: DescribedTerms, type: str, value: Decimal | float, currency: str | None) -> str:
    link = "of" if type == CommissionType.Percentage else "for"
    text = f"{format_rate(type, value, currency)} {link} {_describe_payments(terms)}"
    number = terms.recurring_delay_invoices
    if not number:
        return text
    return f"{text}, nothing for the first {'invoice' if number == 1 else f'{number} invoices'}"


def _describe_payments(terms: DescribedTerms) -> str:
    if terms.recurring_months is None:
        return "each payment"
    if terms.recurring_months == 0:
        return "a customer's first payment"
    months = "month" if terms.recurring_months == 1 else f"{terms.recurring_months} months"
    return f"each payment in a customer's first {months}"
