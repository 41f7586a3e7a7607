"""The codes of all affiliates in one list, through HTTP."""

import pytest

from models import db
from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips
from tests.support.coupons import COUPON
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.job_queues import drain

URL = "/api/v1/coupon-codes"


def _register(brand, affiliate_id, text):
    answer = brand.post(f"/api/v1/affiliates/{affiliate_id}/coupons", {"code": text, "external": True})
    assert answer.status_code == 201, answer.text
    return answer.json


@pytest.fixture
def codes(brand):
    """The codes of Ann and Ben, in one campaign each, the oldest first."""
    found = []
    for slug in ("ann", "ben"):
        brand.program()
        found.append(_register(brand, brand.affiliate(slug), f"{slug.upper()}-10"))
    return found


def test_every_code_is_listed_newest_first_with_whom_it_credits(brand, codes, rival):
    rival.program()
    _register(rival, rival.affiliate("eva"), "EVA-10")
    listed = brand.get(URL).json["items"]

    assert [one["code"] for one in listed] == ["BEN-10", "ANN-10"]
    assert listed[0] == codes[1] | {
        "affiliateName": "Ben",
        "affiliateEmail": "ben@example.com",
        "couponName": None,
        "earnedByCurrency": {},
    }


def test_the_list_is_walked_and_narrowed(brand, codes):
    _register(brand, codes[1]["affiliateId"], "BEN-20")
    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    assert [one["code"] for one in first["items"] + second["items"]] == ["BEN-20", "BEN-10", "ANN-10"]

    brand.call("DELETE", f"/api/v1/affiliates/{codes[1]['affiliateId']}/coupons/{codes[1]['id']}")
    for query, found in (
        (f"programId={codes[0]['programId']}", ["ANN-10"]),
        (f"affiliateId={codes[1]['affiliateId']}", ["BEN-20", "BEN-10"]),
        ("status=Revoked", ["BEN-10"]),
        (f"status=Active&affiliateId={codes[1]['affiliateId']}", ["BEN-20"]),
        (f"couponId={codes[0]['id']}", []),
    ):
        assert [one["code"] for one in brand.get(f"{URL}?{query}").json["items"]] == found, query


def test_what_a_code_brought_is_said_in_each_currency_less_what_went_back(brand, codes):
    sales = (("a", 10_000, "USD"), ("b", 5_000, "USD"), ("c", 1_000, "JPY"), ("d", 100, "EUR"))
    for event_id, cents, currency in sales:
        brand.sale(externalEventId=event_id, affiliateSlug="ben", amountCents=cents, currency=currency)
    drain()
    for event_id in ("a", "b", "c"):
        _credit(brand, event_id, codes[1]["id"])
    assert brand.refund("b").status_code == 200
    drain()

    (ben,) = brand.get(f"{URL}?affiliateId={codes[1]['affiliateId']}").json["items"]
    assert ben["earnedByCurrency"] == {"JPY": 200, "USD": 2_000}


def _credit(brand, event_id, code_id):
    """Say that a sale was credited by a code, as it would be had it named one."""
    with db.unit_of_work(brand.id):
        db.db.run("update conversion set affiliate_coupon_id = %s where external_event_id = %s", (code_id, event_id))


@pytest.mark.parametrize("query", ["status=x", "programId=x", "couponId=x", "affiliateId=x", "take=0", "cursor=x"])
def test_a_query_that_says_nothing_sensible_is_refused(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_a_cursor_is_good_for_its_own_list_alone(brand, codes, rival):
    rival.program()
    for text in ("ONE", "TWO"):
        _register(rival, rival.affiliate(text.lower()), text)

    assert_foreign_cursors_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/programs"))


def test_a_list_costs_the_same_for_one_code_and_for_many(brand, codes):
    one = count_round_trips(lambda: brand.get(URL))
    for number in range(9):
        _register(brand, codes[0]["affiliateId"], f"ANN-{number}5")

    assert count_round_trips(lambda: brand.get(URL)) == one


def test_coupons_of_all_campaigns_are_listed_newest_first_and_narrowed(brand, rival):
    for tenant, names in ((brand, ("Spring", "Autumn")), (rival, ("Theirs",))):
        with play_gateway() as stage:
            connect_gateway(tenant.person("Owner"), stage)
            for name in names:
                made = tenant.post(f"/api/v1/campaigns/{tenant.program(name=name)}/coupons", COUPON | {"name": name})
                assert made.status_code == 201, made.text
    first = str(brand.programs[0])
    there = "/api/v1/campaign-coupons"

    assert [one["name"] for one in brand.get(there).json["items"]] == ["Autumn", "Spring"]
    assert brand.get(f"{there}?programId={first}").json == brand.get(f"/api/v1/campaigns/{first}/coupons").json
    assert brand.get(f"{there}?programId={rival.programs[0]}").json["items"] == []
    page = brand.get(f"{there}?take=1").json
    older = brand.get(f"{there}?take=1&cursor={page['nextCursor']}").json
    assert [one["programId"] for one in older["items"]] == [first]
    for query in ("programId=x", "take=0", "cursor=x"):
        assert brand.get(f"{there}?{query}").status_code == 400, query
    assert brand.person("Viewer").get(there).status_code == 200
