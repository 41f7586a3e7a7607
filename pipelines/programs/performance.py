"""Metrics and leaderboards by day. An addition to the interface.

Source: core spec, section 5 (dashboard metrics, Starter), section 8 (leaderboards are flat arrays).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from domain.money import valuation
from domain.programs.days import DayRange, PeriodPair
from domain.programs.metrics import (
    BoardEntry,
    BoardMetric,
    ComparedPeriods,
    Metrics,
    MetricsGroup,
    PeriodMetrics,
    build_comparison,
    build_metrics,
    build_period,
)
from domain.refusals import not_found
from models.money import home_rates
from models.programs import metrics
from models.programs.metrics import MetricsScope
from pipelines.programs import home_rate


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


@dataclass(frozen=True, slots=True)
class Summary:
    """The metrics of a period and of the one before, in the home currency, and the days of both that are compared."""

    currency: str
    group: MetricsGroup
    current: PeriodMetrics
    previous: PeriodMetrics
    compared: ComparedPeriods


def measure(whose: MetricsScope, days: DayRange, group: MetricsGroup) -> MeasuredRange:
    """Return the metrics of these days. Raises Refused 404 not_found.

    Budget: 2 round trips (home currency and rates; days) and the commit, whatever the number of rows.
    """
    factors = _read_factors(whose, days.first)
    parts = metrics.list_parts(whose, days, group, factors)
    return MeasuredRange(days, group, factors.home, build_metrics(parts, days, group))


def summarize(whose: MetricsScope, periods: PeriodPair, group: MetricsGroup) -> Summary:
    """Return the metrics of two ranges and the changes between them. Raises Refused 404 not_found.

    Budget: 2 round trips (home currency and rates; days) and the commit, whatever the number of rows.
    """
    factors = _read_factors(whose, min(periods.days.first, periods.before.first))
    rows = metrics.list_period_parts(whose, periods, group, factors)
    current = build_period((row.part for row in rows if row.is_current), periods.days, group)
    previous = build_period((row.part for row in rows if not row.is_current), periods.before, group)
    return Summary(factors.home, group, current, previous, build_comparison(rows, periods.compared))


def rank(*, organization_id: UUID, program_id: UUID | None, metric: BoardMetric, days: DayRange, limit: int) -> Board:
    """Return the best affiliates of these days, of one program or of all. Raises Refused 404 not_found.

    Budget: 2 round trips (home currency and rates; days) and the commit.
    """
    whose = MetricsScope(organization_id, program_id)
    factors = _read_factors(whose, days.first)
    entries = metrics.list_board(whose, days, metric, factors, limit=limit)
    return Board(factors.home if metric.is_money else None, entries)


def _read_factors(whose: MetricsScope, first: date) -> valuation.Factors:
    """Return the factors of the days since the first. Raises Refused 404 not_found."""
    rates = home_rates.read(
        whose.organization_id,
        since=home_rate.oldest_rate_day(first),
        program_id=whose.program_id,
        affiliate_id=whose.affiliate_id,
    )
    if not rates.has_program:
        raise not_found("program", whose.program_id)
    if not rates.has_affiliate:
        raise not_found("affiliate", whose.affiliate_id)
    return home_rate.compute_factors(rates)
