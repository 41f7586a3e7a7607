"""The screens of payouts cost what their operations cost, however much is due, paid or listed."""

import pytest

from pages.brand.payouts import desk, new_run, payout, run
from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.rows.paying import Payroll
from tests.support.turning import turn

_DESK = "/dashboard/payouts"
_VIEWS = {
    "desk": (desk.show_payouts, 6),
    "new": (new_run.show_new_run, 10),
    "confirm": (new_run.show_confirm, 9),
    "run": (run.show_payout_run, 2),
    "payout": (payout.show_payout, 2),
}


@pytest.fixture
def payroll(app):
    found = Payroll.create(app)
    for currency, rate in (("EUR", "0.9"), ("JPY", "150")):
        found.rate(currency, rate)
    return found


@pytest.fixture
def owner(app, flask, payroll, monkeypatch):
    """A browser whose session is remembered."""
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", payroll.brand.id)["url"])
    return visitor


def _trips(visitor, path):
    visitor.open(path)  # from now on what is prepared is prepared
    return trips_of(lambda: visitor.open(path))


def _grow(payroll, *slugs):
    for slug in slugs:
        payroll.affiliate(slug)
        for currency in ("USD", "EUR", "JPY", "USD"):
            payroll.sell(slug, 10_000, currency)


def _address(payroll, which):
    if which in ("run", "payout"):
        run_id = payroll.run().run.id
        (payout_id,) = payroll.brand.rows("select id from payout order by created_at desc limit 1")[0]
        return f"{_DESK}/runs/{run_id}" if which == "run" else f"{_DESK}/{payout_id}"
    return {"desk": _DESK, "new": f"{_DESK}/new", "confirm": f"{_DESK}/new/confirm"}[which]


@pytest.mark.parametrize("which", _VIEWS)
def test_a_screen_costs_the_same_with_much_as_with_little(payroll, owner, which):
    view, most = _VIEWS[which]
    _grow(payroll, "ann")
    few = _trips(owner, _address(payroll, which))
    _grow(payroll, "ben", "cyd", "dee")
    if which == "desk":
        payroll.run()

    many = _trips(owner, _address(payroll, which))

    assert few == many
    assert many <= most, many
    assert f"Budget: {most} round trips" in view.__doc__
