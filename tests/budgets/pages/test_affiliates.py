"""The screens of affiliates cost the same with many as with one."""

import pytest

from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_MOST = {"/dashboard/affiliates": 5, "/dashboard/affiliates/applications": 3}


@pytest.mark.parametrize("path", _MOST)
def test_a_list_costs_the_same_for_one_row_and_for_many(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor, counts = Visitor(app), []
    brand.program()
    brand.affiliate("first", status="Pending", approved_at=None)
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(path)
    for number in range(3):
        counts.append(trips_of(lambda: visitor.open(path)))
        for each in range(5):
            brand.affiliate(f"more-{number}-{each}", status="Pending", approved_at=None)

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts


def test_a_profile_costs_the_same_for_little_and_for_much(app, brand, flask, monkeypatch):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor, counts = Visitor(app), []
    brand.program()
    path = f"/dashboard/affiliates/{brand.affiliate('ben')}"
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(path)
    for _ in range(3):
        counts.append(trips_of(lambda: visitor.open(path)))
        for currency in ("USD", "EUR", "JPY"):
            assert brand.sale(currency=currency).status_code == 200

    assert len(set(counts)) == 1, counts
    assert counts[0] <= 30, counts
