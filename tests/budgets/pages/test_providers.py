"""Signing in at an identity provider, and asking it again, cost what their docstrings say."""

import pytest

from models import db
from tests.support.outside.openid_provider import signing_in
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn


@pytest.fixture
def provider(app, brand, monkeypatch):
    with signing_in(brand, monkeypatch) as made:
        yield made


def _came_back(visitor, provider, trips):
    back = provider.log_in(visitor.open("/sign-in/with/dashboard").headers["Location"])
    trips.clear()
    assert visitor.open(back).status_code == 303
    return len(trips)


def test_leaving_asks_the_database_nothing(app, provider, trips):
    visitor = Visitor(app)
    visitor.open("/sign-in/with/dashboard")

    assert trips == []


def test_a_sign_in_at_a_provider_costs_the_same_each_time(app, provider, trips):
    visitor = Visitor(app)
    _came_back(visitor, provider, trips)  # the first makes the member

    assert {_came_back(Visitor(app), provider, trips) for _ in range(2)} == {3}
    assert _came_back(visitor, provider, trips) == 4  # what this browser had before ends


def test_asking_the_provider_again_adds_four_round_trips_once_in_fifteen_minutes(app, provider, trips, monkeypatch):
    visitor = Visitor(app)
    _came_back(visitor, provider, trips)
    costs = []
    for minutes in (0, 16, 0):
        with db.any_org_work():
            aged = f"refresh_from = refresh_from - interval '{minutes} minutes'"
            db.db.run(f"update web_session set {aged} where subject = %s returning 1", (provider.person["sub"],))
        trips.clear()
        visitor.open("/sign-in")
        costs.append(len(trips))

    assert (costs[1] - costs[0], costs[2] - costs[0], provider.refreshes) == (4, 0, 1)
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor.open("/sign-in")
    trips.clear()
    visitor.open("/sign-in")
    assert trips == []
