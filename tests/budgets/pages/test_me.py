"""What affiliates ask of their own rows costs the same with two brands and many rows as with one."""

from uuid import uuid4

import pytest

from tests.support.api.lists import trips_of
from tests.support.draining import drain
from tests.support.rows.brands import Brand, Partner

_MOST = {
    "/api/me": 1,
    "/api/me/programs": 1,
    "/api/me/programs/offers": 1,
    "/api/me/network": 1,
    "/api/me/balance": 1,
    "/api/me/stats/daily": 1,
    "/api/me/stats/channels": 1,
    "/api/me/links": 1,
    "/api/me/conversions": 1,
    "/api/me/payouts": 1,
    "/api/me/coupons/mintable": 1,
    "/api/me/assets": 1,
}
# Who it is takes one transaction of its own where nobody is remembered.
_WHO = 2


def _work(brand, email):
    brand.program()
    brand.affiliate(f"rita-{len(brand.programs)}", email=email, email_normalized=email)
    for _ in range(3):
        brand.sale(affiliateSlug=f"rita-{len(brand.programs)}")
    drain("sales")


@pytest.mark.parametrize("path", _MOST)
def test_a_question_costs_the_same_whatever_there_is(app, path):
    email = f"rita-{uuid4().hex}@example.com"
    rita, counts = Partner(app, email), []
    for _ in range(3):
        _work(Brand.create(app), email)
        rita.get(path)  # what is asked for the first time is prepared
        counts.append(trips_of(lambda: rita.get(path)))

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _WHO + _MOST[path] + 1, counts
