"""Screens of coupons, connections, deals and assets cost the round trips that they name, however much there is."""

import re

import pytest

from pages.brand import assets
from pages.brand.connections import gateway
from pages.brand.connections import listing as connections
from pages.brand.coupons import family, store_codes
from pages.brand.coupons import listing as coupons
from pages.brand.coupons import making as coupon_making
from pages.brand.deals import deal
from pages.brand.deals import listing as deals
from pages.brand.deals import making as deal_making
from tests.support.api.lists import trips_of
from tests.support.coupons import code, coupon
from tests.support.gateways.playing import connected, played
from tests.support.outside.visitor import Visitor
from tests.support.rows.dealing import Dealing
from tests.support.turning import turn

_VIEWS = {
    "/dashboard/coupons": coupons.show_coupons,
    "/dashboard/coupons/new": coupon_making.ask_for_coupon,
    "/dashboard/coupons/codes/new": store_codes.show_code_form,
    "/dashboard/coupons/{program_id}/{coupon_id}": family.show_coupon,
    "/dashboard/connections": connections.show_connections,
    "/dashboard/connections/{connection_id}": gateway.show_connection,
    "/dashboard/deals": deals.show_deals,
    "/dashboard/deals/new": deal_making.ask_for_deal,
    "/dashboard/deals/{deal_id}": deal.show_deal,
    "/dashboard/assets": assets.show_assets,
}


@pytest.fixture
def work(brand):
    """The brand with a gateway, played on this machine, and a creator."""
    with played() as stage:
        found = Dealing.of(brand)
        found.gateway = connected(found.owner, stage)
        yield found


def _grow(work, number):
    """Make one of each more, with something in it; returns the ids of the newest."""
    brand = work.brand
    program_id = brand.programs[0]
    made = coupon(brand, name=f"Partner {number}")
    affiliate_id = brand.affiliate(f"ann-{number}", program_id=program_id)
    for each in range(number + 1):
        code(brand, affiliate_id, made["id"], f"ANN-{number}-{each}")
        work.owner.post("/api/v1/assets", {"name": f"Words {number}", "text": "Try it."})
    return {
        "program_id": program_id,
        "coupon_id": made["id"],
        "connection_id": work.gateway["id"],
        "deal_id": work.offered(*[10_000] * (number + 1)),
    }


def test_a_screen_costs_what_it_says(app, work, flask, monkeypatch):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", work.brand.id)["url"])
    counts = {path: [] for path in _VIEWS}
    for number in range(3):
        names = _grow(work, number)
        for path, seen in counts.items():
            address = path.format(**names)
            visitor.open(address)
            seen.append(trips_of(lambda address=address: visitor.open(address)))

    said = {path: int(re.search(r"Budget: (\d+) round trip", view.__doc__)[1]) for path, view in _VIEWS.items()}
    assert counts == {path: [named] * 3 for path, named in said.items()}
