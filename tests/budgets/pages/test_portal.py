"""The screens of the portal cost the same with many rows as with one."""

import re
from uuid import uuid4

import pytest

from pages.portal import assets, coupons, deals, discover, earnings, home, links, payouts, programs, recruits
from tests.support.api.lists import trips_of
from tests.support.draining import drain
from tests.support.outside.visitor import Visitor
from tests.support.turning import turn

_VIEWS = {
    "/portal": home.show_portal_home,
    "/portal/links": links.show_links,
    "/portal/earnings": earnings.show_earnings,
    "/portal/payouts": payouts.show_own_payouts,
    "/portal/programs": programs.show_own_programs,
    "/portal/discover": discover.show_network,
    "/portal/coupons": coupons.show_coupons,
    "/portal/deals": deals.show_own_deals,
    "/portal/recruits": recruits.show_recruits,
    "/portal/assets": assets.show_own_assets,
}


@pytest.mark.parametrize("path", _VIEWS)
def test_a_screen_costs_the_same_for_one_row_and_for_many(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    email, visitor, counts = f"rita-{uuid4().hex}@example.com", Visitor(app), []
    visitor.open(flask.json("sign-in", "affiliate", "--email", email)["url"])
    for number in range(3):
        brand.program(name=f"Program {number}")
        rita = brand.affiliate(f"rita-{number}", email=email, email_normalized=email)
        brand.affiliate(f"eva-{number}", recruited_by_affiliate_id=rita)
        brand.sale(affiliateSlug=f"rita-{number}")
        drain("sales")
        visitor.open(path)  # what is asked for the first time is prepared
        counts.append(trips_of(lambda: visitor.open(path)))

    assert len(set(counts)) == 1, counts
    assert counts[0] <= int(re.search(r"Budget: (\d+) round trip", _VIEWS[path].__doc__)[1]), counts
