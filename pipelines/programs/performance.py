"""Metrics and leaderboards by day. An addition to the interface.

Source: core spec, section 5 (dashboard metrics, Starter), section 8 (leaderboards are flat arrays).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from domain.money import valuation
from domain.programs.days import DayRange
from domain.programs.metrics import BoardEntry, BoardMetric, Metrics, MetricsGroup, build_metrics
from domain.refusals import not_found
from models.affiliates import affiliates
from models.organization import organizations
from models.programs import metrics, numbers, programs
from models.programs.metrics import MetricsScope
from pipelines.programs import home_rate

# No rate is older, and no day before it needs a rate.
_BEFORE_ALL_RATES = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class MeasuredRange:
    """The metrics of a range of days, in the home currency."""

    days: DayRange
    group: MetricsGroup
    currency: str
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard; `currency` is that of its values, None where they are counts."""

    currency: str | None
    entries: Sequence[BoardEntry]


def measure(whose: MetricsScope, days: DayRange, group: MetricsGroup) -> MeasuredRange:
    """Return the metrics of these days. Raises Refused 404 not_found.

    Budget: 4 round trips (home currency; currencies; rates; days), one more for a program and an affiliate each, and
    the commit, whatever the number of rows.
    """
    _check_exists(whose)
    factors = _read_factors(whose.organization_id, days)
    parts = metrics.list_parts(whose, days, group, factors)
    return MeasuredRange(days, group, factors.home, build_metrics(parts, days, group))


def rank(*, organization_id: UUID, program_id: UUID | None, metric: BoardMetric, days: DayRange, limit: int) -> Board:
    """Return the best affiliates of these days, of one program or of all. Raises Refused 404 not_found.

    Budget: 4 round trips (home currency; currencies; rates; days), one more for a program, and the commit.
    """
    whose = MetricsScope(organization_id, program_id)
    _check_exists(whose)
    factors = _read_factors(organization_id, days)
    entries = metrics.list_board(whose, days, metric, factors, limit=limit)
    return Board(factors.home if metric.is_money else None, entries)


def _check_exists(whose: MetricsScope) -> None:
    organization_id, program_id, affiliate_id = whose.organization_id, whose.program_id, whose.affiliate_id
    if program_id is not None and programs.find(organization_id=organization_id, program_id=program_id) is None:
        raise not_found("program", program_id)
    if affiliate_id is not None and affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id) is None:
        raise not_found("affiliate", affiliate_id)


def _read_factors(organization_id: UUID, days: DayRange) -> valuation.Factors:
    home = organizations.read_home_currency(organization_id)
    currencies = numbers.list_currencies(organization_id)
    return home_rate.read_factors(home=home, currencies=currencies, first=max(days.first, _BEFORE_ALL_RATES))
