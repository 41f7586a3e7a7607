"""The price of a sale: its rate, by the current terms, and its commission at that rate.

Source: tracking spec, "Server-to-server sale body" (precedence); core spec, "Program fields accepted on create or
update", rule 4 (recurringMonths).
"""

from dataclasses import dataclass

from domain import statuses
from domain.conversions import commission, recurring
from domain.conversions.commission import CommissionRate, CommissionType
from models.conversions.sale_terms import SaleTerms
from models.conversions.sales import SaleFacts
from models.programs import programs
from pipelines.programs import tier_progress


@dataclass(frozen=True, slots=True)
class Price:
    """The commission of a sale, in minor units of its currency. `rate` is None if the source set the amount."""

    rate: CommissionRate | None
    commission_cents: int


def price_sale(facts: SaleFacts, coupon: CommissionRate | None = None) -> Price:
    """Return the price of a sale: zero outside its customer's window. `coupon` is the rate of its coupon code.

    In a campaign with performance tiers the affiliate's lock is staged, so that sales are priced one after another.
    Raises ValueError for a Fixed rate in a currency that isn't supported.
    Budget: none; 3 round trips in a campaign with performance tiers, and a fourth while tiers are in a former home
    currency.
    """
    rate = _sale_leg_rate(facts.terms) or _choose_rate(facts, coupon)
    return Price(rate, _commission_cents(facts, rate))


def _sale_leg_rate(terms: SaleTerms) -> CommissionRate | None:
    """Return the rate that a click or lead campaign also pays for a sale; partner-specific rates never apply to it."""
    if terms.sale_leg_type is None or terms.sale_leg_value is None or statuses.pays_on_sale(terms.commission_model):
        return None
    return CommissionRate(
        type=CommissionType(terms.sale_leg_type), value=terms.sale_leg_value, source="program_sale_leg"
    )


def _choose_rate(facts: SaleFacts, coupon: CommissionRate | None) -> CommissionRate:
    terms, tier = facts.terms, _find_tier(facts)
    return commission.choose_rate(
        commission.RateFacts(
            custom_type=_type(terms.custom_type),
            custom_value=terms.custom_value,
            coupon=coupon,
            group_type=_type(terms.group_type),
            group_value=terms.group_value,
            tiers=tier.tiers,
            tier_revenue_cents=tier.revenue_cents,
            home_currency=tier.home_currency,
            per_usd=tier.per_usd,
            default_type=CommissionType(terms.default_type),
            default_value=terms.default_value,
        )
    )


def _type(value: str | None) -> CommissionType | None:
    return CommissionType(value) if value is not None else None


def _find_tier(facts: SaleFacts) -> tier_progress.TierProgress:
    if not facts.terms.has_tiers:
        return tier_progress.TierProgress()
    programs.stage_affiliate_locks(organization_id=facts.organization_id, affiliate_ids=[facts.affiliate_id])
    return tier_progress.find(
        organization_id=facts.organization_id, program_id=facts.program_id, affiliate_id=facts.affiliate_id
    )


def _commission_cents(facts: SaleFacts, rate: CommissionRate) -> int:
    window = recurring.WindowFacts(
        first_paid_at=facts.first_paid_at,
        ordinal=facts.customer_ordinal,
        recurring_months=facts.terms.recurring_months,
        recurring_delay_invoices=facts.terms.recurring_delay_invoices,
    )
    if not recurring.earns(window, paid_at=facts.accepted_at):
        return 0
    return commission.price(rate=rate, amount_cents=facts.amount_cents, currency=facts.currency)
