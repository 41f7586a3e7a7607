"""What an organization's home currency measures limits with, and values days with."""

from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

from domain.money import valuation
from domain.programs import ceilings
from models.money import fx_rates
from models.organization import organizations


def of(organization_id: UUID) -> ceilings.Home:
    """Return the home currency with its newest stored rate."""
    return in_currency(organizations.read_home_currency(organization_id))


def in_currency(currency: str) -> ceilings.Home:
    """Return what an amount in this currency, once the home currency, is measured with."""
    return ceilings.Home(currency=currency, per_usd=None if currency == "USD" else fx_rates.find_newest(currency))


def factors(*, home: str, currencies: Sequence[str], first: date) -> valuation.Factors:
    """Return what amounts of days since the first are valued with, by the rates that are stored of them."""
    oldest = first - timedelta(days=valuation.FRESH_DAYS)
    published = fx_rates.list_published(currencies=[*currencies, home], since=oldest)
    return valuation.compute_factors(home=home, currencies=currencies, published=published)
