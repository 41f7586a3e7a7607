"""Screens of the console: the same number of round trips with much in them as with little."""

import pytest

from domain import jobs
from models import db
from tests.support.outside.console import buried
from tests.support.outside.post_office import stage
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.turning import turn

_MOST = {
    "/console/queues/fragment": 6,
    "/console/attention/fragment": 8,
    "/console/dead": 12,
    "/console/dead/fragment": 6,
    "/console/dead/replay": 4,
    "/console/schedule": 3,
    "/console/ledger": 3,
    "/console/payouts": 11,
    "/console/rates": 4,
    "/console/mail": 3,
    "/console/tenants": 3,
    "/console/connections": 4,
    "/console/style": 0,
}


@pytest.fixture
def trips():
    found = []
    db.db.trip_hooks.append(found.append)
    yield found
    db.db.trip_hooks.remove(found.append)


@pytest.fixture
def operator(app, monkeypatch, flask):
    """A browser of an operator whose session is remembered."""
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "operator")["url"])
    visitor.open("/console")
    return visitor


def _grow(app):
    brand = Brand.create(app)
    for job in (jobs.SALE_SETTLE, jobs.REFUND_CASCADE):
        buried(brand, job=job)
    stage(brand, "One", "Two")


@pytest.mark.parametrize("path", _MOST)
def test_a_screen_costs_the_same_however_much_there_is(app, operator, trips, path):
    counts = []
    for _ in range(3):
        _grow(app)
        trips.clear()
        assert operator.open(path).status_code == 200
        counts.append(len(trips))

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts
