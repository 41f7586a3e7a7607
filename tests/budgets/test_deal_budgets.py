"""Deals cost as many round trips for many milestones and deals as for one."""

import pytest

from models.deals import lists
from tests.support.api.lists import trips_of
from tests.support.rows.dealing import OWN, URL, Dealing

# Who calls is looked up in a transaction of its own.
_CALLER = 2


@pytest.fixture
def dealing(app):
    return Dealing.create(app)


@pytest.mark.parametrize("query", ["", "?status=Offered", "?take=2"])
def test_a_page_of_deals_costs_two_round_trips_with_all_milestones(dealing, query):
    dealing.offered()
    few = trips_of(lambda: dealing.brand.get(URL + query))
    for _ in range(4):
        dealing.offered(100, 200, 300)

    many = trips_of(lambda: dealing.brand.get(URL + query))

    assert "2 round trips" in lists.page.__doc__
    assert few == many == _CALLER + 2


def test_a_page_of_own_deals_costs_as_many(dealing):
    dealing.offered()
    dealing.creator.get(OWN)
    few = trips_of(lambda: dealing.creator.get(OWN))
    for _ in range(4):
        dealing.offered(100, 200, 300)

    assert "2 round trips" in lists.any_org_page.__doc__
    assert trips_of(lambda: dealing.creator.get(OWN)) == few
