"""What limits in an organization's home currency are measured with."""

from uuid import UUID

from domain.programs import ceilings
from models.money import fx_rates
from models.organization import organizations


def of(organization_id: UUID) -> ceilings.Home:
    """Return the home currency with its newest stored rate."""
    return in_currency(organizations.home_currency(organization_id))


def in_currency(currency: str) -> ceilings.Home:
    """Return what an amount in this currency, once the home currency, is measured with."""
    return ceilings.Home(currency=currency, per_usd=None if currency == "USD" else fx_rates.newest(currency))
