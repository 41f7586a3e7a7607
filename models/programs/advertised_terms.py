"""The columns that every list of programs contains: the organization and the terms shown before joining."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AdvertisedTerms:
    """The first columns of such rows. `rate_currency` None: a Fixed rate is in each sale's own currency."""

    organization_id: UUID
    organization_name: str
    name: str
    description: str | None
    terms_url: str | None
    model: str
    rate_type: str
    rate_value: Decimal
    rate_currency: str | None
    sale_commission_type: str | None
    sale_commission_value: Decimal | None
    lead_bounty_cents: int | None
    lead_bounty_currency: str | None
    click_reward_cents: int | None
    click_reward_currency: str | None
    has_tiers: bool
    recurring_months: int | None
    recurring_delay_invoices: int
    cookie_window_days: int
