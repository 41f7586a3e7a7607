"""The screens of conversions and of review cost what their operations cost, however much there is.

No statement of theirs counts a whole table, and none walks a list by skipping.
"""

import pytest

from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.rows.fraud_rows import flagged
from tests.support.rows.program_rows import ago, conversion
from tests.support.turning import turn

_MOST = {
    "/dashboard/conversions": 2,
    "/dashboard/conversions?q=ada&sort=oldest": 2,
    "/dashboard/conversions?status=Pending&sort=payable": 2,
    "/dashboard/conversions/{conversion}": 7,
    "/dashboard/conversions/new": 3,
    "/dashboard/conversions/new?uncredited={conversion}": 3,
    "/dashboard/review": 3,
}


def _grow(brand, number):
    ada = brand.affiliate(f"ada-{number}")
    brand.affiliate(f"paused-{number}", status="Paused")
    for each in range(3):
        lead = conversion(brand, ada, type="LeadReward", status="Invalidated")
        flagged(brand, ada, subject="lead", subject_id=lead, action="held", at=ago(hours=each))
    brand.sale(affiliateSlug=f"paused-{number}")
    return conversion(brand, ada)


@pytest.mark.parametrize("path", _MOST)
def test_a_screen_costs_the_same_with_much_in_it_as_with_little(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor = Visitor(app)
    brand.program()
    here = path.format(conversion=_grow(brand, 0))
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(here)  # from now on who it is is remembered
    counts = []
    for number in range(1, 4):
        counts.append(trips_of(lambda: visitor.open(here), never=(b"count(*)", b"offset 1")))
        _grow(brand, number)

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts
