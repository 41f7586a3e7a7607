"""The screens of programs and invites cost the same with much in them as with little."""

import pytest

from tests.support.api.lists import trips_of
from tests.support.outside.visitor import Visitor
from tests.support.rows.program_rows import click
from tests.support.turning import turn

_PROGRAM = "/dashboard/programs/{program}"
_MOST = {
    "/dashboard/programs": 1,
    "/dashboard/programs/new": 0,
    _PROGRAM: 23,
    f"{_PROGRAM}/change": 2,
    f"{_PROGRAM}/groups": 3,
    f"{_PROGRAM}/tiers": 7,
    f"{_PROGRAM}/recruiting": 2,
    f"{_PROGRAM}/landing-page": 2,
    f"{_PROGRAM}/landing-page/preview": 2,
    f"{_PROGRAM}/domain": 2,
    f"{_PROGRAM}/domain/found": 1,
    f"{_PROGRAM}/install": 4,
    f"{_PROGRAM}/install/checks": 1,
    "/dashboard/invites": 2,
}


def _grow(brand, number):
    program = f"/api/v1/programs/{brand.programs[0]}"
    group = {"name": f"Gold {number}", "commissionType": "Percentage", "commissionValue": 5}
    tiers = [
        {"minRevenueCents": least, "commissionType": "Percentage", "commissionValue": 5} for least in range(number + 1)
    ]
    invite = {"programId": str(brand.programs[0]), "email": f"ina-{number}@example.com"}
    assert brand.post(f"{program}/partner-groups", group).status_code == 201
    assert brand.call("PUT", f"{program}/performance-tiers", {"tiers": tiers}).status_code == 200
    assert brand.post("/api/affiliate-invites", invite).status_code == 201
    ben = brand.affiliate(f"ben-{number}")
    for _ in range(3):
        click(brand, ben)
        brand.sale(affiliateSlug=f"ben-{number}")
    brand.programs.remove(brand.program())


@pytest.mark.parametrize("path", _MOST)
def test_a_screen_costs_the_same_with_little_and_with_much(app, brand, flask, monkeypatch, path):
    turn(monkeypatch, web={"key_cache_s": 60})
    visitor, counts = Visitor(app), []
    domain = f"partners.{brand.id.hex}.example"
    program = brand.program(budget_cents=500_000, budget_currency="USD", custom_domain=domain)
    address = path.format(program=program)
    _grow(brand, 0)
    visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
    visitor.open(address)
    for number in range(1, 4):
        counts.append(trips_of(lambda: visitor.open(address)))
        _grow(brand, number)

    assert len(set(counts)) == 1, counts
    assert counts[0] <= _MOST[path], counts
