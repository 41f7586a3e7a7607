"""One thing is found by what a workflow knows of it: exactly, in one's own organization, newest first, ten at most."""

from uuid import uuid4

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.databases import alter
from tests.support.rows.brands import Brand
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion, time_ago

URL = "/api/v1/automation/search"


def _ids(brand, what, **asked):
    answer = brand.app.test_client().get(
        f"{URL}/{what}", query_string=asked, headers={"Authorization": f"Bearer {brand.api_key}"}
    )
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return [one["id"] for one in answer.json]


def test_affiliates_are_found_by_their_whole_email_in_any_case_or_by_a_slug(brand, rival):
    for one in (brand, rival):
        one.program()
        one.affiliate("ann", email=f"ann@{brand.id.hex}.test")
    first = str(brand.rows("select id from affiliate")[0][0])
    brand.program()
    second = str(brand.affiliate("ann", email=f"ann@{brand.id.hex}.test"))
    bob = str(brand.affiliate("bob", email=f"bob@{brand.id.hex}.test"))

    assert _ids(brand, "affiliates", email=f" Ann@{brand.id.hex.upper()}.TEST ") == [second, first]
    assert _ids(brand, "affiliates", slug="ann") == [second, first]
    assert _ids(brand, "affiliates", slug="BOB") == [bob]
    assert _ids(brand, "affiliates", slug="ann", email=f"bob@{brand.id.hex}.test") == []
    assert _ids(brand, "affiliates", slug="an") == _ids(brand, "affiliates", slug="an%") == []
    shown = brand.get(f"{URL}/affiliates?slug=bob").json
    assert shown == [brand.get(f"/api/v1/affiliates/{bob}").json]
    alter(brand, "update affiliate set deleted_at = now() where id = %s", bob)
    assert _ids(brand, "affiliates", email=f"bob@{brand.id.hex}.test") == []


def test_campaigns_are_found_by_slug_or_whole_name_and_archived_ones_are_not(brand, rival):
    rival.program(name="Spring sale", slug="spring")
    spring = str(brand.program(name="Spring sale", slug="spring"))
    twin = str(brand.program(name="Spring sale", slug="spring-two"))
    gone = brand.program(name="Spring sale", slug="spring-gone")
    alter(brand, "update program set archived_at = now() where id = %s", gone)

    assert _ids(brand, "campaigns", slug="spring") == _ids(brand, "campaigns", slug="Spring") == [spring]
    assert _ids(brand, "campaigns", name="Spring sale") == [twin, spring]
    assert _ids(brand, "campaigns", name="Spring sale", slug="spring") == [spring]
    assert _ids(brand, "campaigns", name="spring sale") == _ids(brand, "campaigns", name="Spring") == []
    assert _ids(brand, "campaigns", slug="spring-gone") == []
    assert brand.get(f"{URL}/campaigns?slug=spring").json == [brand.get(f"/api/v1/programs/{spring}").json]


def test_conversions_are_found_by_either_id_in_every_source(brand, rival):
    for one in (brand, rival):
        one.program()
        one.affiliate("ben")
    ((ben,),) = brand.rows("select id from affiliate")
    ((theirs,),) = rival.rows("select id from affiliate")
    older = str(insert_conversion(brand, ben, external_event_id="order-1", created_at=time_ago(days=1)))
    newer = str(insert_conversion(brand, ben, external_event_id="order-1", source="import"))
    foreign = str(insert_conversion(rival, theirs, external_event_id="order-1"))

    assert _ids(brand, "conversions", externalEventId="order-1") == [newer, older]
    assert _ids(brand, "conversions", id=older) == _ids(brand, "conversions", id=older.upper()) == [older]
    assert _ids(brand, "conversions", id=older, externalEventId="order-1") == [older]
    assert _ids(brand, "conversions", id=older, externalEventId="order-2") == []
    assert _ids(brand, "conversions", id=foreign) == _ids(brand, "conversions", externalEventId="order") == []
    assert _ids(rival, "conversions", externalEventId="order-1") == [foreign]
    listed = {one["id"]: one for one in brand.get("/api/v1/conversions").json["items"]}
    assert brand.get(f"{URL}/conversions?id={older}").json == [listed[older]]


def test_a_sale_of_a_moment_ago_is_found_at_once(brand, drain):
    brand.program()
    brand.affiliate("ben")
    by_order = brand.sale(externalEventId="order-1").json["conversionId"]
    by_id = brand.sale(externalEventId="order-2").json["conversionId"]

    assert _ids(brand, "conversions", externalEventId="order-1") == [by_order]
    assert _ids(brand, "conversions", id=by_id) == [by_id]
    drain()
    assert brand.rows("select count(*) from conversion") == [(2,)]


def test_payouts_are_found_by_id_or_as_an_affiliates_newest(app, rival):
    payroll = Payroll.create_owing(app)
    brand, ann = payroll.brand, payroll.affiliates["ann"]
    payroll.run()
    payroll.sell("ann")
    payroll.run()
    newest_first = [str(id) for (id,) in brand.rows("select id from payout order by created_at desc, id desc")]

    assert len(newest_first) == 2
    assert _ids(brand, "payouts", affiliateId=str(ann)) == newest_first
    assert _ids(brand, "payouts", id=newest_first[1]) == [newest_first[1]]
    assert _ids(brand, "payouts", id=newest_first[1], affiliateId=str(uuid4())) == []
    assert _ids(rival, "payouts", id=newest_first[0]) == _ids(rival, "payouts", affiliateId=str(ann)) == []
    alone = brand.get(f"/api/v1/payouts/{newest_first[0]}?lineItems=false").json
    assert brand.get(f"{URL}/payouts?id={newest_first[0]}").json == [alone]


def test_ten_are_shown_at_most(brand):
    made = [str(brand.program(name="Twins")) for _ in range(12)]

    assert _ids(brand, "campaigns", name="Twins") == made[:1:-1]


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("affiliates", ("email", "slug")),
        ("campaigns", ("slug", "name")),
        ("conversions", ("externalEventId", "id")),
        ("payouts", ("id", "affiliateId")),
    ],
)
def test_searches_for_nothing_and_for_nonsense_are_refused(app, brand, what, names):
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
    asked = f"{URL}/{what}?{names[0]}={uuid4()}"
    if what == "affiliates":
        asked += "@example.com"
    assert brand.other_key(scope="read").get(asked).json == []
    assert Brand.create(app, plan="Free").get(asked).status_code == 402
    assert Brand(app, brand.id, "nonsense", "").get(asked).status_code == 401
    assert brand.post(asked).status_code == 405


def test_a_search_costs_the_same_however_much_is_found(brand):
    brand.program(name="Twins", slug="one")
    brand.affiliate("ben", email="ben@example.com")
    brand.sale(externalEventId="warm")
    asked = (
        "affiliates?email=ben@example.com",
        "affiliates?slug=ben",
        "campaigns?name=Twins",
        "conversions?externalEventId=warm",
        f"payouts?affiliateId={uuid4()}",
    )
    for one in asked:
        brand.get(f"{URL}/{one}")
    key = 2  # the tests look up the key at each request; a service does so once in KEY_CACHE_S
    once = [count_round_trips(lambda one=one: brand.get(f"{URL}/{one}")) - key for one in asked]
    for number in range(9):
        brand.program(name="Twins", slug=f"n-{number}")
        brand.affiliate("ben", email="ben@example.com")

    assert (
        [count_round_trips(lambda one=one: brand.get(f"{URL}/{one}")) - key for one in asked] == once == [2, 2, 1, 3, 1]
    )
    assert len(_ids(brand, "affiliates", slug="ben")) == 10
