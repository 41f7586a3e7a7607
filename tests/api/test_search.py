"""Search over affiliates, conversions, payouts and codes, through HTTP."""

from urllib.parse import quote

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Partner
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion

URL = "/api/v1/search"


@pytest.fixture
def shop(brand):
    """Return a brand with two affiliates, one of whom has sales."""
    brand.program()
    brand.affiliate("ada", full_name="Ada Lovelace")
    brand.affiliate("adam", full_name="Zoe 50%_off")
    return brand


def _search(brand, text):
    answer = brand.get(f"{URL}?q={quote(text)}")
    assert answer.status_code == 200, answer.data
    return answer.json


def _names(results):
    return [row["fullName"] for row in results["affiliates"]]


def _ids(results, kind):
    return [row["id"] for row in results[kind]]


def test_affiliates_are_found_by_the_beginning_of_name_or_email(shop):
    assert _names(_search(shop, "ADA L")) == ["Ada Lovelace"]
    assert _names(_search(shop, "ada@")) == ["Ada Lovelace"]
    assert set(_names(_search(shop, "  ada  "))) == {"Ada Lovelace", "Zoe 50%_off"}
    assert _names(_search(shop, "ada"))[0] == "Ada Lovelace"  # whose link is /ada


def test_affiliates_are_found_by_the_beginning_of_their_last_name(shop):
    shop.affiliate("lou", full_name="Lou Andreas de Lovelock")

    assert _names(_search(shop, "LOVELA")) == ["Ada Lovelace"]
    assert set(_names(_search(shop, "love"))) == {"Ada Lovelace", "Lou Andreas de Lovelock"}
    for text in ("ovelace", "andreas", "lovelace ada"):
        assert _names(_search(shop, text)) == [], text


def test_affiliate_is_found_by_a_changed_last_name(shop):
    affiliate_id = _search(shop, "lovelace")["affiliates"][0]["id"]
    assert shop.call("PATCH", f"/api/v1/affiliates/{affiliate_id}", {"fullName": "Ada King"}).status_code == 200

    assert (_names(_search(shop, "king")), _names(_search(shop, "lovelace"))) == (["Ada King"], [])


@pytest.mark.parametrize(
    "name", ["ΝΙΚΟΣ", "Παύλος ΜΑΡΚΟΣ", "İpek Işık", "ÜMİT ÇELİK", "Straße", "Ǆ Ǆ", "ŁUKASZ Ćwik", "名前 太郎"]
)
def test_names_in_any_script_are_found_as_they_are_written(shop, name):
    shop.affiliate("foreign", full_name=name)

    assert _names(_search(shop, name)) == [name]
    assert name in _names(_search(shop, name.split()[-1]))


def test_pattern_characters_are_literal(shop):
    assert _names(_search(shop, "zoe 50%")) == ["Zoe 50%_off"]
    for text in ("%", "_", "a%", "zoe 50__off", "\\", "'", '"', "zoe 50%_offx", "*", ":*"):
        assert _search(shop, text)["affiliates"] == [], text


def test_record_is_found_by_its_id(shop):
    affiliate_id = _search(shop, "ada@")["affiliates"][0]["id"]
    conversion_id = str(insert_conversion(shop, affiliate_id))

    for text in (affiliate_id, affiliate_id.upper(), f" {affiliate_id} "):
        (row,) = _search(shop, text)["affiliates"]
        assert (row["id"], row["isExact"]) == (affiliate_id, True)
    results = _search(shop, conversion_id)
    assert [(row["id"], row["isExact"]) for row in results["conversions"]] == [(conversion_id, True)]
    assert results["affiliates"] == results["payouts"] == results["codes"] == []


def test_conversion_is_found_by_its_order_number(shop):
    affiliate_id = _search(shop, "ada@")["affiliates"][0]["id"]
    conversion_id = str(insert_conversion(shop, affiliate_id, external_event_id="Order-77"))
    insert_conversion(shop, affiliate_id, external_event_id="Order-778")

    (row,) = _search(shop, "Order-77")["conversions"]
    assert (row["id"], row["externalEventId"], row["isExact"]) == (conversion_id, "Order-77", False)
    assert (row["affiliateName"], row["affiliateEmail"]) == ("Ada Lovelace", "ada@example.com")


def test_conversions_of_found_affiliates_are_newest_first_and_limited(shop):
    affiliate_id = _search(shop, "ada@")["affiliates"][0]["id"]
    ids = [str(insert_conversion(shop, affiliate_id)) for _ in range(7)]

    results = _search(shop, "ada l")

    assert len(results["conversions"]) == 5
    assert set(_ids(results, "conversions")) <= set(ids)
    assert (results["hasMoreConversions"], results["hasMoreAffiliates"]) == (True, False)


def test_payout_is_found_by_its_id_and_by_its_affiliate(app):
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    payroll.run()
    ((payout_id,),) = payroll.brand.rows("select id::text from payout")

    for text in (payout_id, "ann@"):
        assert _ids(_search(payroll.brand, text), "payouts") == [payout_id]


def test_deleted_affiliates_are_not_found(shop):
    shop.rows("update affiliate set deleted_at = now() where email like 'ada@%%' returning 1")

    assert _names(_search(shop, "ada")) == ["Zoe 50%_off"]


def test_other_tenants_records_are_not_found(shop, rival):
    affiliate_id = _search(shop, "ada@")["affiliates"][0]["id"]
    conversion_id = str(insert_conversion(shop, affiliate_id, external_event_id="Order-77"))

    for text in ("ada", affiliate_id, conversion_id, "Order-77"):
        results = _search(rival, text)
        assert all(not rows for rows in results.values()), text


@pytest.mark.parametrize("query", ["", "?q=", "?q=%20%20", "?q=%00", "?q=a%00b", f"?q={'x' * 10_000}"])
def test_invalid_text_returns_400(shop, query):
    answer = shop.get(f"{URL}{query}")

    assert answer.status_code == 400
    assert list(answer.json["errors"]) == ["q"]


_ID_OF_NOTHING = "01a223f3-1f85-7070-905e-2e84b92cf91f"


@pytest.mark.parametrize("text", ["\U0010ffff", "名前", "é", "\u202e", "a\tb", "😀", _ID_OF_NOTHING, "x" * 200])
def test_any_text_is_searched_safely(shop, text):
    assert all(not rows for rows in _search(shop, text).values())


def test_viewer_may_search_and_strangers_may_not(shop):
    assert shop.person("Viewer").get(f"{URL}?q=ada").status_code == 200
    assert shop.app.test_client().get(f"{URL}?q=ada").status_code == 401
    assert Partner(shop.app, "ada@example.com").get(f"{URL}?q=ada").status_code == 401


def test_search_is_one_round_trip(shop):
    affiliate_id = _search(shop, "ada@")["affiliates"][0]["id"]
    insert_conversion(shop, affiliate_id)
    few = count_round_trips(lambda: _search(shop, "ada"))

    assert few == count_round_trips(lambda: _search(shop, "nobody"))
