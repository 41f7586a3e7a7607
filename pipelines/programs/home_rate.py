"""An organization's home currency with its rates, for checking limits and for valuing days."""

from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

from domain.money import valuation
from domain.programs import ceilings
from models.money import fx_rates, home_rates
from models.money.home_rates import HomeRates
from models.organization import organizations

# No rate is older, and no day before it needs a rate.
_BEFORE_ALL_RATES = date(1970, 1, 1)


def find(organization_id: UUID) -> ceilings.Home:
    """Return the home currency with its newest stored rate."""
    return find_for_currency(organizations.read_home_currency(organization_id))


def find_for_currency(currency: str) -> ceilings.Home:
    """Return a currency that is or was the home currency with its newest stored rate."""
    return ceilings.Home(currency=currency, per_usd=None if currency == "USD" else fx_rates.find_newest(currency))


def read_home_factors(organization_id: UUID, *, first: date) -> valuation.Factors:
    """Return the factors that convert amounts of all of an organization's conversions since a day.

    Budget: 1 round trip.
    """
    return compute_factors(home_rates.read(organization_id, since=oldest_rate_day(first)))


def compute_factors(rates: HomeRates) -> valuation.Factors:
    """Return the factors of these rates."""
    return valuation.compute_factors(home=rates.home, currencies=rates.currencies, published=rates.published)


def oldest_rate_day(first: date) -> date:
    """Return the day of the oldest rate that may still count on a day."""
    return max(first, _BEFORE_ALL_RATES) - timedelta(days=valuation.FRESH_DAYS)


def read_factors(*, home: str, currencies: Sequence[str], first: date) -> valuation.Factors:
    """Return the factors that convert amounts of days since the first into the home currency, by the stored rates."""
    published = fx_rates.list_published(currencies=[*currencies, home], since=oldest_rate_day(first))
    return valuation.compute_factors(home=home, currencies=currencies, published=published)
