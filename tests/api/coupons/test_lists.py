"""Lists of all affiliates' codes and of all campaigns' coupons."""

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
    """Return the codes of Ann and Ben, each in a campaign of their own, oldest first."""
    registered = []
    for slug in ("ann", "ben"):
        brand.program()
        registered.append(_register(brand, brand.affiliate(slug), f"{slug.upper()}-10"))
    return registered


def test_codes_are_listed_newest_first_with_their_affiliate(brand, codes, rival):
    rival.program()
    _register(rival, rival.affiliate("eva"), "EVA-10")
    rows = brand.get(URL).json["items"]

    assert [code["code"] for code in rows] == ["BEN-10", "ANN-10"]
    assert rows[0] == codes[1] | {
        "affiliateName": "Ben",
        "affiliateEmail": "ben@example.com",
        "couponName": None,
        "earnedByCurrency": {},
    }


def test_codes_are_paged_and_filtered(brand, codes):
    _register(brand, codes[1]["affiliateId"], "BEN-20")
    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    assert [code["code"] for code in first["items"] + second["items"]] == ["BEN-20", "BEN-10", "ANN-10"]

    brand.call("DELETE", f"/api/v1/affiliates/{codes[1]['affiliateId']}/coupons/{codes[1]['id']}")
    for query, expected in (
        (f"programId={codes[0]['programId']}", ["ANN-10"]),
        (f"affiliateId={codes[1]['affiliateId']}", ["BEN-20", "BEN-10"]),
        ("status=Revoked", ["BEN-10"]),
        (f"status=Active&affiliateId={codes[1]['affiliateId']}", ["BEN-20"]),
        (f"couponId={codes[0]['id']}", []),
    ):
        assert [code["code"] for code in brand.get(f"{URL}?{query}").json["items"]] == expected, query


def test_earnings_of_a_code_are_per_currency_less_refunds(brand, codes):
    sales = (("a", 10_000, "USD"), ("b", 5_000, "USD"), ("c", 1_000, "JPY"), ("d", 100, "EUR"))
    for event_id, cents, currency in sales:
        brand.sale(externalEventId=event_id, affiliateSlug="ben", amountCents=cents, currency=currency)
    drain()
    for event_id in ("a", "b", "c"):
        _set_code_of_sale(brand, event_id, codes[1]["id"])
    assert brand.refund("b").status_code == 200
    drain()

    (ben,) = brand.get(f"{URL}?affiliateId={codes[1]['affiliateId']}").json["items"]
    assert ben["earnedByCurrency"] == {"JPY": 200, "USD": 2_000}


def _set_code_of_sale(brand, event_id, code_id):
    """Set the code that credited a sale, as if the sale had named it."""
    with db.unit_of_work(brand.id):
        db.db.run("update conversion set affiliate_coupon_id = %s where external_event_id = %s", (code_id, event_id))


@pytest.mark.parametrize("query", ["status=x", "programId=x", "couponId=x", "affiliateId=x", "take=0", "cursor=x"])
def test_invalid_query_returns_400(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_cursor_of_another_list_is_refused(brand, codes, rival):
    rival.program()
    for text in ("ONE", "TWO"):
        _register(rival, rival.affiliate(text.lower()), text)

    assert_foreign_cursors_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/programs"))


def test_round_trips_do_not_grow_with_codes(brand, codes):
    trips_before = count_round_trips(lambda: brand.get(URL))
    for number in range(9):
        _register(brand, codes[0]["affiliateId"], f"ANN-{number}5")

    assert count_round_trips(lambda: brand.get(URL)) == trips_before


def test_coupons_of_all_campaigns_are_paged_and_filtered(brand, rival):
    for tenant, names in ((brand, ("Spring", "Autumn")), (rival, ("Theirs",))):
        with play_gateway() as stage:
            connect_gateway(tenant.person("Owner"), stage)
            for name in names:
                created = tenant.post(f"/api/v1/campaigns/{tenant.program(name=name)}/coupons", COUPON | {"name": name})
                assert created.status_code == 201, created.text
    first = str(brand.programs[0])
    url = "/api/v1/campaign-coupons"

    assert [coupon["name"] for coupon in brand.get(url).json["items"]] == ["Autumn", "Spring"]
    assert brand.get(f"{url}?programId={first}").json == brand.get(f"/api/v1/campaigns/{first}/coupons").json
    assert brand.get(f"{url}?programId={rival.programs[0]}").json["items"] == []
    page = brand.get(f"{url}?take=1").json
    older = brand.get(f"{url}?take=1&cursor={page['nextCursor']}").json
    assert [coupon["programId"] for coupon in older["items"]] == [first]
    for query in ("programId=x", "take=0", "cursor=x"):
        assert brand.get(f"{url}?{query}").status_code == 400, query
    assert brand.person("Viewer").get(url).status_code == 200
