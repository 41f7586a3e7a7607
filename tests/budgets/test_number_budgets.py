"""The numbers of programs cost as many round trips with much in them as with little."""

import pytest

from adapters import clock
from models import db
from pipelines.programs import numbers
from tests.support.rows.program_rows import ago, click, conversion


def _trips(brand):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        with db.unit_of_work(brand.id):
            numbers.stats(organization_id=brand.id, now=clock.now())
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

    trips = _trips(brand)

    assert "4 round trips (programs; currencies; rates; conversions) and the commit" in numbers.stats.__doc__
    assert len(trips) == 4 + 1, trips


def test_statistics_leave_the_session_as_it_was(brand):
    _busy_program(brand, 1)

    with db.unit_of_work(brand.id):
        numbers.stats(organization_id=brand.id, now=clock.now())
        assert db.db.row("show enable_seqscan") == ("off",)
    with db.unit_of_work(brand.id):
        assert db.db.row("show enable_seqscan") == ("off",)
