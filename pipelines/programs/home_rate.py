"""An organization's home currency with its rates, for checking limits and for valuing days."""

from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

from domain.money import valuation
from domain.programs import ceilings
from models.money import fx_rates
from models.organization import organizations


def find(organization_id: UUID) -> ceilings.Home:
    """Return the home currency with its newest stored rate."""
    return find_for_currency(organizations.read_home_currency(organization_id))


def find_for_currency(currency: str) -> ceilings.Home:
    """Return a currency that is or was the home currency with its newest stored rate."""
    return ceilings.Home(currency=currency, per_usd=None if currency == "USD" else fx_rates.find_newest(currency))


def read_factors(*, home: str, currencies: Sequence[str], first: date) -> valuation.Factors:
    """Return the factors that convert amounts of days since the first into the home currency, by the stored rates."""
    oldest = first - timedelta(days=valuation.FRESH_DAYS)
    published = fx_rates.list_published(currencies=[*currencies, home], since=oldest)
    return valuation.compute_factors(home=home, currencies=currencies, published=published)
