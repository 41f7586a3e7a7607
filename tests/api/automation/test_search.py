"""Searches for workflows: exact match, only in the caller's organization, newest first, at most ten results."""

from uuid import uuid4

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.databases import run_as_brand
from tests.support.rows.brands import Brand
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion, time_ago

URL = "/api/v1/automation/search"


def _search_ids(brand, resource, **params):
    answer = brand.app.test_client().get(
        f"{URL}/{resource}", query_string=params, headers={"Authorization": f"Bearer {brand.api_key}"}
    )
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return [item["id"] for item in answer.json]


def test_affiliates_are_found_by_whole_email_in_any_case_or_slug(brand, rival):
    for tenant in (brand, rival):
        tenant.program()
        tenant.affiliate("ann", email=f"ann@{brand.id.hex}.test")
    first = str(brand.rows("select id from affiliate")[0][0])
    brand.program()
    second = str(brand.affiliate("ann", email=f"ann@{brand.id.hex}.test"))
    bob = str(brand.affiliate("bob", email=f"bob@{brand.id.hex}.test"))

    assert _search_ids(brand, "affiliates", email=f" Ann@{brand.id.hex.upper()}.TEST ") == [second, first]
    assert _search_ids(brand, "affiliates", slug="ann") == [second, first]
    assert _search_ids(brand, "affiliates", slug="BOB") == [bob]
    assert _search_ids(brand, "affiliates", slug="ann", email=f"bob@{brand.id.hex}.test") == []
    assert _search_ids(brand, "affiliates", slug="an") == _search_ids(brand, "affiliates", slug="an%") == []
    affiliates = brand.get(f"{URL}/affiliates?slug=bob").json
    assert affiliates == [brand.get(f"/api/v1/affiliates/{bob}").json]
    run_as_brand(brand, "update affiliate set deleted_at = now() where id = %s", bob)
    assert _search_ids(brand, "affiliates", email=f"bob@{brand.id.hex}.test") == []


def test_campaigns_are_found_by_slug_or_whole_name_unless_archived(brand, rival):
    rival.program(name="Spring sale", slug="spring")
    spring = str(brand.program(name="Spring sale", slug="spring"))
    twin = str(brand.program(name="Spring sale", slug="spring-two"))
    archived_id = brand.program(name="Spring sale", slug="spring-gone")
    run_as_brand(brand, "update program set archived_at = now() where id = %s", archived_id)

    assert _search_ids(brand, "campaigns", slug="spring") == _search_ids(brand, "campaigns", slug="Spring") == [spring]
    assert _search_ids(brand, "campaigns", name="Spring sale") == [twin, spring]
    assert _search_ids(brand, "campaigns", name="Spring sale", slug="spring") == [spring]
    assert _search_ids(brand, "campaigns", name="spring sale") == _search_ids(brand, "campaigns", name="Spring") == []
    assert _search_ids(brand, "campaigns", slug="spring-gone") == []
    assert brand.get(f"{URL}/campaigns?slug=spring").json == [brand.get(f"/api/v1/programs/{spring}").json]


def test_conversions_are_found_by_either_id_in_every_source(brand, rival):
    for tenant in (brand, rival):
        tenant.program()
        tenant.affiliate("ben")
    ((ben,),) = brand.rows("select id from affiliate")
    ((rival_affiliate_id,),) = rival.rows("select id from affiliate")
    older = str(insert_conversion(brand, ben, external_event_id="order-1", created_at=time_ago(days=1)))
    newer = str(insert_conversion(brand, ben, external_event_id="order-1", source="import"))
    rival_conversion_id = str(insert_conversion(rival, rival_affiliate_id, external_event_id="order-1"))

    assert _search_ids(brand, "conversions", externalEventId="order-1") == [newer, older]
    assert _search_ids(brand, "conversions", id=older) == _search_ids(brand, "conversions", id=older.upper()) == [older]
    assert _search_ids(brand, "conversions", id=older, externalEventId="order-1") == [older]
    assert _search_ids(brand, "conversions", id=older, externalEventId="order-2") == []
    assert (
        _search_ids(brand, "conversions", id=rival_conversion_id)
        == _search_ids(brand, "conversions", externalEventId="order")
        == []
    )
    assert _search_ids(rival, "conversions", externalEventId="order-1") == [rival_conversion_id]
    listed = {tenant["id"]: tenant for tenant in brand.get("/api/v1/conversions").json["items"]}
    assert brand.get(f"{URL}/conversions?id={older}").json == [listed[older]]


def test_new_sale_is_found_before_background_jobs_run(brand, drain):
    brand.program()
    brand.affiliate("ben")
    by_order = brand.sale(externalEventId="order-1").json["conversionId"]
    by_id = brand.sale(externalEventId="order-2").json["conversionId"]

    assert _search_ids(brand, "conversions", externalEventId="order-1") == [by_order]
    assert _search_ids(brand, "conversions", id=by_id) == [by_id]
    drain()
    assert brand.rows("select count(*) from conversion") == [(2,)]


def test_payouts_are_found_by_id_or_affiliate_newest_first(app, rival):
    payroll = Payroll.create_owing(app)
    brand, ann = payroll.brand, payroll.affiliates["ann"]
    payroll.run()
    payroll.sell("ann")
    payroll.run()
    newest_first = [str(id) for (id,) in brand.rows("select id from payout order by created_at desc, id desc")]

    assert len(newest_first) == 2
    assert _search_ids(brand, "payouts", affiliateId=str(ann)) == newest_first
    assert _search_ids(brand, "payouts", id=newest_first[1]) == [newest_first[1]]
    assert _search_ids(brand, "payouts", id=newest_first[1], affiliateId=str(uuid4())) == []
    assert (
        _search_ids(rival, "payouts", id=newest_first[0]) == _search_ids(rival, "payouts", affiliateId=str(ann)) == []
    )
    alone = brand.get(f"/api/v1/payouts/{newest_first[0]}?lineItems=false").json
    assert brand.get(f"{URL}/payouts?id={newest_first[0]}").json == [alone]


def test_search_returns_at_most_ten(brand):
    ids = [str(brand.program(name="Twins")) for _ in range(12)]

    assert _search_ids(brand, "campaigns", name="Twins") == ids[:1:-1]


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("affiliates", ("email", "slug")),
        ("campaigns", ("slug", "name")),
        ("conversions", ("externalEventId", "id")),
        ("payouts", ("id", "affiliateId")),
    ],
)
def test_empty_or_malformed_search_is_refused(app, brand, what, names):
    for query in ("", "?take=5", "?Email=x"):
        refused = brand.get(f"{URL}/{what}{query}")
        assert (refused.status_code, refused.json["error"]) == (400, "search_term_required"), query
        assert all(name in refused.json["message"] for name in names)
    for name in names:
        for value in ("", "%00", "a%00b", "x" * 2000):
            answer = brand.get(f"{URL}/{what}?{name}={value}")
            assert (answer.status_code, list(answer.json.get("errors", []))) == (400, [name]), (name, value)
        for value in ("1%27--", "%25", "_", "%F0%9F%92%B8", "x%5C", "%FF"):
            assert brand.get(f"{URL}/{what}?{name}={value}").status_code in (200, 400), (name, value)
    url = f"{URL}/{what}?{names[0]}={uuid4()}"
    if what == "affiliates":
        url += "@example.com"
    assert brand.other_key(scope="read").get(url).json == []
    assert Brand.create(app, plan="Free").get(url).status_code == 402
    assert Brand(app, brand.id, "nonsense", "").get(url).status_code == 401
    assert brand.post(url).status_code == 405


def test_search_costs_the_same_for_any_number_of_results(brand):
    brand.program(name="Twins", slug="one")
    brand.affiliate("ben", email="ben@example.com")
    brand.sale(externalEventId="warm")
    queries = (
        "affiliates?email=ben@example.com",
        "affiliates?slug=ben",
        "campaigns?name=Twins",
        "conversions?externalEventId=warm",
        f"payouts?affiliateId={uuid4()}",
    )
    for query in queries:
        brand.get(f"{URL}/{query}")
    key_lookup_trips = 2  # tests look up the key on each request; a deployment does so once per KEY_CACHE_S
    trips = [count_round_trips(lambda query=query: brand.get(f"{URL}/{query}")) - key_lookup_trips for query in queries]
    for number in range(9):
        brand.program(name="Twins", slug=f"n-{number}")
        brand.affiliate("ben", email="ben@example.com")

    assert (
        [count_round_trips(lambda query=query: brand.get(f"{URL}/{query}")) - key_lookup_trips for query in queries]
        == trips
        == [2, 2, 1, 3, 1]
    )
    assert len(_search_ids(brand, "affiliates", slug="ben")) == 10
