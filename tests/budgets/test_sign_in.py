"""Round trips of a session: lookup by a page, sign-in at an identity provider, and refresh there."""

import pytest

from models import db
from tests.support.outside.openid_provider import sign_in_with_provider
from tests.support.outside.visitor import Visitor
from tests.support.running.trips import record_round_trips
from tests.support.settings_overrides import override_settings


@pytest.fixture
def provider(app, brand, monkeypatch):
    with sign_in_with_provider(brand, monkeypatch) as provider:
        yield provider


def _count_round_trips(visitor, address):
    with record_round_trips() as round_trips:
        assert visitor.open(address).status_code < 400
    return len(round_trips)


def _return_from_provider(visitor, provider):
    return _count_round_trips(visitor, provider.log_in(visitor.open("/sign-in/with/dashboard").headers["Location"]))


def test_session_lookup_costs_two_transactions_of_one_statement(app, brand, flask):
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    with record_round_trips() as round_trips:
        visitor.open("/sign-in")

    assert sum(b"web_session" in trip for trip in round_trips) == 1
    assert len(round_trips) == 2 + 2  # each with its commit


def test_redirect_to_provider_sends_no_statement(app, provider):
    assert _count_round_trips(Visitor(app), "/sign-in/with/dashboard") == 0


def test_sign_in_at_provider_costs_the_same_each_time(app, provider):
    visitor = Visitor(app)
    _return_from_provider(visitor, provider)  # The first sign-in creates the member.

    assert {_return_from_provider(Visitor(app), provider) for _ in range(2)} == {3}
    assert _return_from_provider(visitor, provider) == 4  # The browser's former session ends.


def test_refresh_at_provider_adds_four_round_trips_once_in_fifteen_minutes(app, provider, monkeypatch):
    visitor, costs = Visitor(app), []
    _return_from_provider(visitor, provider)
    for minutes in (0, 16, 0):
        with db.any_org_work():
            assignment = f"refresh_from = refresh_from - interval '{minutes} minutes'"
            db.db.run(f"update web_session set {assignment} where subject = %s returning 1", (provider.person["sub"],))
        costs.append(_count_round_trips(visitor, "/sign-in"))

    assert (costs[1] - costs[0], costs[2] - costs[0], provider.refreshes) == (4, 0, 1)
    override_settings(monkeypatch, web={"key_cache_s": 60})
    visitor.open("/sign-in")
    assert _count_round_trips(visitor, "/sign-in") == 0
