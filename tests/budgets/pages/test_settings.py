"""The settings, the keys and the audit log cost the same with much in them as with little."""

import pytest

from tests.support.api import embedding
from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_MOST = {
    "/dashboard/settings": 4,
    "/dashboard/api-keys": 1,
    "/dashboard/audit-log": 4,
    "/dashboard/embed": 1,
    "/dashboard/settings/tracking-domain": 1,
}


@pytest.mark.parametrize("path", _MOST)
def test_a_page_costs_the_same_for_one_row_and_for_many(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor, counts = Visitor(app), []
    brand.program()
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(path)
    for number in range(3):
        counts.append(trips_of(lambda: visitor.open(path)))
        brand.other_key()
        embedding.issued(brand, brand.affiliate(f"ann-{number}"))
        link = ("--org", brand.id, "--role", "Manager", "--email", f"ada-{number}@example.com")
        Visitor(app).open(flask.json("sign-in", "owner", *link)["url"])

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts
