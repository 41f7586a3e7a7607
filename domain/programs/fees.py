"""What a program would have paid for a click or a lead.

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
    """What of a program's terms pays clicks and leads. The value is a fee in major units where it has a currency."""

    model: str
    value: Decimal
    fee_currency: str | None
    click_reward: Fee | None
    lead_bounty: Fee | None


def per_click(terms: FeeTerms) -> Fee | None:
    """Return what one click pays by the program's own terms, None where clicks pay nothing."""
    return _primary(terms, CommissionModel.Cpc) or terms.click_reward


def per_lead(terms: FeeTerms) -> Fee | None:
    """Return what one lead pays by the program's own terms, None where leads pay nothing."""
    return _primary(terms, CommissionModel.Cpl) or terms.lead_bounty


def _primary(terms: FeeTerms, model: CommissionModel) -> Fee | None:
    if terms.model != model or terms.fee_currency is None:
        return None
    return Fee(money.major_to_minor(major=terms.value, currency=terms.fee_currency), terms.fee_currency)
