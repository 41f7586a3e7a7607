"""A screen costs what its operations cost, however much there is, and a remembered session nothing."""

import pytest

from api.service import health
from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_MOST = {"/dashboard": 21, "/portal": 6, "/console": 9}


@pytest.fixture
def visitor(app, monkeypatch):
    """A browser whose session is remembered."""
    turn(monkeypatch, web={"key_cache_s": 60})
    return Visitor(app)


def _link(flask, brand, home):
    whom = {"/dashboard": ("owner", "--org", brand.id), "/console": ("operator",)}
    return flask.json("sign-in", *whom.get(home, ("affiliate", "--email", f"ben-{brand.id.hex}@example.com")))["url"]


def _grow(brand, number):
    brand.program()
    for name in ("a", "b"):
        brand.affiliate(f"{name}-{number}", status="Paused")
        brand.affiliate(f"new-{name}-{number}", status="Pending", approved_at=None)
        brand.sale(affiliateSlug=f"{name}-{number}")


@pytest.mark.parametrize("home", _MOST)
def test_a_home_costs_the_same_with_much_in_it_as_with_little(visitor, brand, flask, home):
    _grow(brand, 0)
    visitor.open(_link(flask, brand, home))
    visitor.open(home)  # from now on who it is is remembered
    counts = []
    for number in range(1, 4):
        health.findings.forget()
        counts.append(trips_of(lambda: visitor.open(home)))
        _grow(brand, number)

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[home], counts


def test_a_session_is_found_by_two_statements(app, brand, flask, trips):
    visitor = Visitor(app)
    visitor.open(_link(flask, brand, "/dashboard"))
    trips.clear()
    visitor.open("/sign-in")

    assert sum(b"web_session" in trip for trip in trips) == 1
    assert len(trips) == 2 + 2  # each with its commit
