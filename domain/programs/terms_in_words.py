"""The terms of a program as one sentence that a person can check."""

from dataclasses import dataclass
from decimal import Decimal

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.statuses import CommissionModel


@dataclass(frozen=True, slots=True)
class WordedTerms:
    """What the sentence is made from. `rate_currency` None: a Fixed rate is in each sale's own currency.

    `recurring_months` None: every payment of a customer earns; 0: the first one alone.
    """

    model: str
    rate_type: str
    rate_value: Decimal
    rate_currency: str | None
    has_tiers: bool
    recurring_months: int | None
    recurring_delay_invoices: int


def sentence(terms: WordedTerms) -> str:
    """Return what is earned for what, such as "20 % of each payment in a customer's first 12 months."."""
    parts = [f"{_share(terms)} {_each(terms)}"]
    if terms.recurring_delay_invoices and _is_on_sales(terms):
        number = terms.recurring_delay_invoices
        parts.append("nothing for the first invoice" if number == 1 else f"nothing for the first {number} invoices")
    if terms.has_tiers and _is_on_sales(terms):
        parts.append("more from certain sums on")
    return f"{', '.join(parts)}."


def _share(terms: WordedTerms) -> str:
    value = f"{terms.rate_value.normalize():,f}"
    if terms.rate_type == CommissionType.Percentage:
        return f"{value} % of"
    return f"{value} {terms.rate_currency} for" if terms.rate_currency else f"A fixed {value} for"


def _each(terms: WordedTerms) -> str:
    if not _is_on_sales(terms):
        return "each click" if terms.model == CommissionModel.Cpc else "each lead"
    if terms.recurring_months == 0:
        return "a customer's first payment"
    if terms.recurring_months is None:
        return "each payment"
    months = "month" if terms.recurring_months == 1 else f"{terms.recurring_months} months"
    return f"each payment in a customer's first {months}"


def _is_on_sales(terms: WordedTerms) -> bool:
    return statuses.pays_on_sale(terms.model)
