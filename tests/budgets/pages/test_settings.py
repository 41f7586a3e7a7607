"""The settings, the keys and the audit log cost the same with much in them as with little."""

import pytest

from models import db
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_MOST = {"/dashboard/settings": 8, "/dashboard/api-keys": 2, "/dashboard/audit-log": 6}


@pytest.mark.parametrize("path", _MOST)
def test_a_page_costs_the_same_for_one_row_and_for_many(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor, counts = Visitor(app), []
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(path)
    for number in range(3):
        trips = []
        db.db.trip_hooks.append(trips.append)
        assert visitor.open(path).status_code == 200
        db.db.trip_hooks.remove(trips.append)
        counts.append(len([trip for trip in trips if b"prepare hot_" not in trip]))
        brand.other_key()
        link = ("--org", brand.id, "--role", "Manager", "--email", f"ada-{number}@example.com")
        Visitor(app).open(flask.json("sign-in", "owner", *link)["url"])

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts
