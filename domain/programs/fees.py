"""The fee of a program for a click or a lead.

Source: core spec, fraud summary (estimatedNotBilledCents) and "Program" (Cpc and Cpl primaries, rewards).
"""

from dataclasses import dataclass
from decimal import Decimal

from domain.money import money
from domain.statuses import CommissionModel


@dataclass(frozen=True, slots=True)
class Fee:
    """An amount in minor units of its currency."""

    cents: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeTerms:
    """The terms of a program that pay clicks and leads. The value is a fee in major units if it has a currency."""

    model: str
    value: Decimal
    fee_currency: str | None
    click_reward: Fee | None
    lead_bounty: Fee | None


def per_click(terms: FeeTerms) -> Fee | None:
    """Return the fee for one click by the program's own terms, None where clicks pay nothing."""
    return _primary_fee(terms, CommissionModel.Cpc) or terms.click_reward


def per_lead(terms: FeeTerms) -> Fee | None:
    """Return the fee for one lead by the program's own terms, None where leads pay nothing."""
    return _primary_fee(terms, CommissionModel.Cpl) or terms.lead_bounty


def _primary_fee(terms: FeeTerms, model: CommissionModel) -> Fee | None:
    if terms.model != model or terms.fee_currency is None:
        return None
    return Fee(money.major_to_minor(major=terms.value, currency=terms.fee_currency), terms.fee_currency)
