"""Screens of the console: the same number of round trips with much in them as with little."""

from dataclasses import dataclass

import pytest

from api.service import health
from domain import jobs
from tests.support.api.lists import trips_of
from tests.support.outside.console import buried
from tests.support.outside.post_office import stage
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.rows.dealing import Dealing
from tests.support.rows.paying import Payroll
from tests.support.turning import turn

_MOST = {
    "/console": 9,
    "/console/queues/fragment": 4,
    "/console/attention/fragment": 5,
    "/console/dead": 6,
    "/console/dead/fragment": 2,
    "/console/dead/replay": 1,
    "/console/schedule": 1,
    "/console/schedule/fragment": 1,
    "/console/ledger": 1,
    "/console/ledger/fragment": 1,
    "/console/payouts": 3,
    "/console/rates": 2,
    "/console/mail": 1,
    "/console/tenants": 1,
    "/console/connections": 2,
    "/console/programs": 1,
    "/console/network": 1,
    "/console/disputes": 1,
    "/console/style": 0,
}


@pytest.fixture
def operator(app, monkeypatch, flask):
    """A browser of an operator whose session is remembered."""
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "operator")["url"])
    visitor.open("/console")
    return visitor


@dataclass
class _Waiting:
    """What was made last, by what its id is called in an address."""

    ids: dict[str, object]

    @classmethod
    def more(cls, app, parts):
        """Make what waits at the console's single pages: a payout, a run, a deal in dispute, two letters."""
        payroll, reviewed, dealing = Payroll.owing(app), Payroll.owing(app), Dealing.create(app)
        deal = dealing.funded(*[1_000] * parts)
        payroll.execute(
            "update program set network_visibility = 'Networked', network_review = 'Pending', network_asked_at = now()"
        )
        dealing.dispute(deal, 1)
        return cls(
            {
                "letter": buried(payroll.brand),
                "payout": payroll.stuck(),
                "run": reviewed.under_review(),
                "message": stage(payroll.brand, "One", "Two")[0],
                "organization": payroll.brand.id,
                "program": payroll.brand.programs[0],
                "deal": deal,
            }
        )


_SINGLE = {
    "/console/dead/{letter}": 1,
    "/console/queues/sales/pause": 4,
    "/console/payouts/runs/{run}": 1,
    "/console/payouts/{payout}/settle": 3,
    "/console/mail/{message}": 2,
    "/console/tenants/{organization}": 5,
    "/console/programs/{program}": 1,
    "/console/network/{program}": 1,
    "/console/disputes/{deal}": 5,
    "/console/disputes/{deal}/milestones/1/settle": 5,
    "/console/disputes/{deal}/milestones/1/refund": 5,
}


def _grow(app):
    brand = Brand.create(app)
    for job in (jobs.SALE_SETTLE, jobs.REFUND_CASCADE):
        buried(brand, job=job)
    stage(brand, "One", "Two")


@pytest.mark.parametrize("path", _MOST)
def test_a_screen_costs_the_same_however_much_there_is(app, operator, path):
    counts = []
    for _ in range(3):
        _grow(app)
        health.findings.forget()  # it looks once a second
        counts.append(trips_of(lambda: operator.open(path)))

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts


def test_a_page_about_one_thing_costs_the_same_however_much_there_is_of_it(app, operator):
    costs = []
    for parts in (1, 3, 6):
        waiting = _Waiting.more(app, parts)
        costs.append({})
        for address in _SINGLE:
            path = address.format(**waiting.ids)
            assert operator.open(path).status_code == 200, path
            costs[-1][address] = trips_of(lambda path=path: operator.open(path))

    assert costs == [_SINGLE] * 3
