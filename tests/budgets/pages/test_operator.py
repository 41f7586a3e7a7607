"""What operators ask costs the same round trips however many organizations, jobs, payouts and disputes there are."""

import re
from dataclasses import dataclass

import pytest

from domain import jobs
from tests.support.api.lists import trips_of
from tests.support.outside.console import Console, buried
from tests.support.outside.post_office import stage
from tests.support.rows.dealing import Dealing
from tests.support.rows.paying import Payroll

# Where an id stands in an address, by what it is of.
_MOST = {
    "attention": 3,
    "queues": 4,
    "dead-letters": 1,
    "dead-letters/count": 1,
    "dead-letters/kinds": 1,
    "dead-letters/{letter}": 1,
    "schedule": 1,
    "ledger": 1,
    "payouts/runs": 1,
    "payouts/doubtful": 1,
    "payouts/events": 1,
    "payouts/{payout}": 3,
    "rates": 2,
    "mail": 1,
    "mail/{message}": 2,
    "organizations": 1,
    "organizations/{organization}": 5,
    "connections": 2,
    "programs": 1,
    "programs/{program}": 1,
    "network": 1,
    "network/{program}": 1,
    "disputes": 1,
    "deals/{deal}": 5,
}


@dataclass
class _Grown:
    """What was made last, by what its id is called in an address."""

    ids: dict[str, object]

    @classmethod
    def more(cls, app, parts):
        """Make a brand that pays and one with a deal of so many parts, and what of both waits for an operator."""
        payroll, dealing = Payroll.owing(app), Dealing.create(app)
        Payroll.owing(app).under_review()
        deal = dealing.funded(*[1_000] * parts)
        for seq in range(1, parts + 1):
            dealing.dispute(deal, seq)
        dealing.brand.rows("update organization set home_currency = 'TJS' returning id")  # a currency without a rate
        payroll.execute(
            "update program set network_visibility = 'Networked', network_review = 'Pending', network_asked_at = now()"
        )
        letters = [buried(payroll.brand, job=job) for job in (jobs.SALE_SETTLE, jobs.REFUND_CASCADE)]
        messages = stage(payroll.brand, "One", "Two")
        return cls(
            {
                "letter": letters[0],
                "payout": payroll.stuck(),
                "message": messages[0],
                "organization": payroll.brand.id,
                "program": payroll.brand.programs[0],
                "deal": deal,
            }
        )


@pytest.fixture
def counted(app):
    """What returns how many round trips each address costs after something grew."""
    console = Console(app)

    def count(parts):
        found = _Grown.more(app, parts)
        costs = {}
        for address in _MOST:
            path = address.format(**found.ids)
            console.get(path)  # what is asked for the first time is prepared
            costs[address] = trips_of(lambda path=path: console.get(path))
        return costs

    return count


def test_looking_costs_the_same_however_much_there_is(counted):
    few, more, many = (counted(parts) for parts in (1, 3, 6))

    assert {address: (few[address], many[address]) for address in _MOST if few[address] != many[address]} == {}
    assert more == many
    assert many == _MOST


def test_each_question_names_its_budget(app):
    named = {
        re.sub("<[^>]*>", "{}", rule.rule).removeprefix("/api/operator/"): app.view_functions[rule.endpoint].__doc__
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/operator/") and "GET" in rule.methods
    }
    trips = {cost: "round trip" if cost == 1 else "round trips" for cost in _MOST.values()}
    budgets = {re.sub("{.*?}", "{}", address): f"Budget: {cost} {trips[cost]}" for address, cost in _MOST.items()}

    assert set(named) == set(budgets)
    assert [address for address, budget in budgets.items() if budget not in " ".join(named[address].split())] == []
