"""The numbers of programs cost as many round trips with much in them as with little."""

from datetime import timedelta

import pytest

from adapters import clock
from domain.programs.days import DayRange
from domain.programs.metrics import BoardMetric, MetricsGroup
from models import db
from models.programs.metrics import MetricsScope
from pipelines.programs import measuring, numbers
from tests.support.rows.program_rows import ago, click, conversion


def _trips(brand, read):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        with db.unit_of_work(brand.id):
            read()
    finally:
        db.db.trip_hooks.remove(trips.append)
    return trips


def _busy_program(brand, number):
    brand.program()
    affiliate_id = brand.affiliate(f"partner-{number}")
    for currency in ("USD", "EUR", "JPY"):
        conversion(brand, affiliate_id, currency=currency, occurred_at=ago(days=number))
    click(brand, affiliate_id)


@pytest.mark.parametrize("programs", [1, 5])
def test_statistics_cost_the_same_for_any_number_of_programs_rows_and_currencies(brand, programs):
    for number in range(programs):
        _busy_program(brand, number)

    trips = _trips(brand, lambda: numbers.stats(organization_id=brand.id, now=clock.now()))

    assert "4 round trips (programs; currencies; rates; what is owed) and the commit" in numbers.stats.__doc__
    assert len(trips) == 4 + 1, trips


@pytest.mark.parametrize("programs", [1, 5])
def test_metrics_and_leaderboards_cost_the_same_for_any_number_of_programs_rows_and_currencies(brand, programs):
    for number in range(programs):
        _busy_program(brand, number)
    today = clock.now().date()
    year = DayRange(today - timedelta(days=365), today)
    one = {"organization_id": brand.id, "days": year, "limit": 100}
    affiliate_id = brand.affiliate("one")

    for group in MetricsGroup:
        trips = _trips(brand, lambda group=group: measuring.measure(MetricsScope(brand.id, None), year, group))
        assert len(trips) == 4 + 1, (group, trips)
    both = MetricsScope(brand.id, brand.programs[0], affiliate_id)
    assert len(_trips(brand, lambda: measuring.measure(both, year, MetricsGroup.day))) == 4 + 2 + 1
    for metric in BoardMetric:
        trips = _trips(brand, lambda metric=metric: measuring.rank(program_id=None, metric=metric, **one))
        assert len(trips) == 4 + 1, (metric, trips)
        trips = _trips(brand, lambda metric=metric: measuring.rank(program_id=brand.programs[0], metric=metric, **one))
        assert len(trips) == 4 + 1 + 1, (metric, trips)
    for documented in (measuring.measure, measuring.rank):
        assert "4 round trips (home currency; currencies; rates; days), one more for a" in documented.__doc__


def test_statistics_leave_the_session_as_it_was(brand):
    _busy_program(brand, 1)

    with db.unit_of_work(brand.id):
        numbers.stats(organization_id=brand.id, now=clock.now())
        assert db.db.row("show enable_seqscan") == ("off",)
    with db.unit_of_work(brand.id):
        assert db.db.row("show enable_seqscan") == ("off",)
