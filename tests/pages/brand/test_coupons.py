"""Coupons on the dashboard, with a gateway simulated on this machine."""

import re

import pytest

from tests.support.coupons import COUPON, UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway

_HERE = "/dashboard/coupons"
_NEW = {
    "_key": "k",
    "name": "Partner 15",
    "discountType": "PercentOff",
    "discountValue": "15",
    "duration": "Once",
    "selfMintMode": "Disabled",
    "overridesClickAttribution": "on",
}


@pytest.fixture
def shop(brand):
    """The brand with one campaign, the affiliate Jane and a connected gateway."""
    with play_gateway() as gateway:
        brand.program(name="Spring")
        brand.affiliate("jane", full_name="Jane <Ek>")
        connect_gateway(brand.person("Owner"), gateway)
        yield brand


def _names(html, label):
    table = html.partition(f'<table aria-label="{label}" role="table">')[2].partition("</table>")[0]
    return re.findall(r'<th scope="row" role="rowheader">(?:<a [^>]*>|<code>)([^<]+)<', table)


def _new_coupon(brand):
    return {**_NEW, "programId": str(brand.programs[0])}


def test_coupon_is_created_here_and_at_the_gateway(shop, people):
    visitor = people()
    assert "New coupon</h1>" in visitor.open(f"{_HERE}/new").text
    answer = visitor.send(f"{_HERE}/new", _new_coupon(shop))
    html = visitor.open(answer.headers["Location"]).text

    assert answer.status_code == 303
    assert "<h1>Partner 15</h1>" in html
    assert "15\N{NO-BREAK SPACE}% off the first payment" in html
    assert _names(visitor.open(_HERE).text, "Coupons") == ["Partner 15"]


def test_coupons_of_all_programs_are_filtered_in_one_list(shop, people):
    spring, autumn = str(shop.programs[0]), str(shop.program(name="Autumn"))
    create_coupon(shop, name="Of spring")
    answer = shop.post(f"/api/v1/campaigns/{autumn}/coupons", COUPON | {"name": "Of autumn"})
    assert answer.status_code == 201
    visitor = people()

    html = visitor.open(_HERE).text
    assert "Coupons in all programs" in html
    assert _names(html, "Coupons") == ["Of autumn", "Of spring"]
    assert _names(visitor.open(f"{_HERE}?programId={spring}").text, "Coupons") == ["Of spring"]


def test_amount_is_typed_in_major_units(shop, people):
    form = _new_coupon(shop) | {"discountType": "AmountOff", "discountValue": "5.50", "discountCurrency": "eur"}
    form |= {"duration": "Repeating", "durationInMonths": "3", "expiresAt": "2099-12-31"}
    answer = people().send(f"{_HERE}/new", form)

    assert answer.status_code == 303, answer.text
    assert shop.rows("select discount_value, discount_currency, duration_in_months from campaign_coupon") == [
        (550, "EUR", 3)
    ]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": " "}, "name"),
        ({"discountValue": "101"}, "discountValue"),
        ({"discountValue": "1.5"}, "discountValue"),
        ({"discountValue": "much"}, "discountValue"),
        ({"discountType": "AmountOff"}, "discountCurrency"),
        ({"discountType": "AmountOff", "discountCurrency": "XXQ"}, "discountCurrency"),
        ({"discountType": "AmountOff", "discountCurrency": "JPY", "discountValue": "1.5"}, "discountValue"),
        ({"duration": "Repeating"}, "durationInMonths"),
        ({"duration": "Repeating", "durationInMonths": "0"}, "durationInMonths"),
        ({"expiresAt": "soon"}, "expiresAt"),
    ],
)
def test_invalid_coupon_shows_an_error_at_its_field_and_is_not_created(shop, people, typed, field):
    form = _new_coupon(shop) | {"discountCurrency": "", "durationInMonths": "", "expiresAt": ""} | typed
    answer = people().send(f"{_HERE}/new", form)

    assert answer.status_code == 400
    assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', answer.text), answer.text
    assert shop.rows("select count(*) from campaign_coupon") == [(0,)]


def test_coupon_without_gateway_shows_the_reason_and_keeps_the_form(brand, people):
    brand.program()
    answer = people().send(f"{_HERE}/new", _new_coupon(brand))

    assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)
    assert 'value="Partner 15"' in answer.text


def test_code_is_assigned_by_email(shop, people):
    family = create_coupon(shop)
    page, visitor = f"{_HERE}/{shop.programs[0]}/{family['id']}", people()
    answer = visitor.send(f"{page}/codes", {"_key": "k", "email": " JANE@example.com", "code": "JANE-15"})
    assert answer.status_code == 303, answer.text

    html = visitor.open(page).text
    assert _names(html, "Codes") == ["JANE-15"]
    assert "Jane &lt;Ek&gt;" in html
    assert _names(visitor.open(_HERE).text, "Codes") == ["JANE-15"]

    refused = visitor.send(f"{page}/codes", {"_key": "l", "email": "zoe@example.com", "code": ""})
    assert refused.status_code == 422
    assert re.search(r'id="code-email"[^>]*value="zoe@example.com"[^>]*aria-invalid="true"', refused.text)


def test_code_is_revoked(shop, people):
    family = create_coupon(shop)
    ((jane,),) = shop.rows("select id from affiliate")
    code, visitor = mint_code(shop, jane, family["id"], "JANE-15"), people()
    (address,) = re.findall(r'action="([^"]+/revoke)"', visitor.open(_HERE).text)
    assert address == f"{_HERE}/codes/{jane}/{code['id']}/revoke"

    assert visitor.send(address, {"_key": "k"}).status_code == 303
    html = visitor.open(_HERE).text
    assert "Revoked" in html
    assert "/revoke" not in html


def test_external_code_is_registered(brand, people):
    brand.program()
    brand.affiliate("ben")
    visitor, form = people(), {"_key": "k", "programId": str(brand.programs[0]), "email": "ben@example.com"}
    assert visitor.send(f"{_HERE}/codes", form | {"code": "BEN-10"}).status_code == 303
    assert _names(visitor.open(_HERE).text, "Codes") == ["BEN-10"]

    wrong = visitor.send(f"{_HERE}/codes", form | {"_key": "l", "code": "no!"})
    assert wrong.status_code == 400
    assert re.search(r'id="code-code"[^>]*aria-invalid="true"', wrong.text)


def test_changeable_fields_of_a_coupon_are_changed(shop, people):
    family = create_coupon(shop)
    page, visitor = f"{_HERE}/{shop.programs[0]}/{family['id']}", people()
    form = {"_key": "k", "name": "Partner", "selfMintMode": "AllAffiliates", "maxCodesPerAffiliate": "2"}
    assert visitor.send(f"{page}/change", form).status_code == 303

    assert shop.rows(
        "select name, self_mint_mode, max_codes_per_affiliate, overrides_click_attribution from campaign_coupon"
    ) == [("Partner", "AllAffiliates", 2, False)]
    wrong = visitor.send(f"{page}/change", form | {"_key": "l", "maxCodesPerAffiliate": "many"})
    assert (wrong.status_code, 'value="many"' in wrong.text) == (400, True)


def test_coupon_is_deleted_without_codes_and_archived_with_codes(shop, people):
    visitor = people()
    without_codes, with_codes = create_coupon(shop, name="Empty"), create_coupon(shop, name="Used")
    ((jane,),) = shop.rows("select id from affiliate")
    mint_code(shop, jane, with_codes["id"])
    program = shop.programs[0]
    assert "Delete Empty" in visitor.open(f"{_HERE}/{program}/{without_codes['id']}").text
    assert visitor.send(f"{_HERE}/{program}/{without_codes['id']}/delete", {"_key": "a"}).status_code == 303

    refused = visitor.send(f"{_HERE}/{program}/{with_codes['id']}/delete", {"_key": "b"})
    assert (refused.status_code, 'role="alert"' in refused.text) == (422, True)
    assert visitor.send(f"{_HERE}/{program}/{with_codes['id']}/archive", {"_key": "c"}).status_code == 303
    assert _names(visitor.open(_HERE).text, "Coupons") == ["Used"]
    assert "Archived" in visitor.open(_HERE).text


def test_empty_coupon_list_shows_the_missing_prerequisites(brand, people):
    visitor = people()
    assert "No programs yet" in visitor.open(_HERE).text
    brand.program()
    html = visitor.open(_HERE).text
    assert "No coupons yet" in html
    assert "No codes yet" in html
    assert "No codes match" in visitor.open(f"{_HERE}?status=Revoked").text


@pytest.mark.parametrize("query", ["status=x", "programId=x", "cursor=x"])
def test_invalid_filter_shows_an_error(shop, people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)


def test_another_brands_coupon_returns_404(shop, people, rival):
    family = create_coupon(shop)
    rival.program()
    visitor = people()
    for program, coupon_id in ((rival.programs[0], family["id"]), (shop.programs[0], "none"), ("x", family["id"])):
        assert visitor.open(f"{_HERE}/{program}/{coupon_id}").status_code == 404
        for verb in ("change", "archive", "delete"):
            assert visitor.send(f"{_HERE}/{program}/{coupon_id}/{verb}", {"_key": "k", "name": "x"}).status_code == 404


def test_viewer_reads_and_changes_nothing(shop, people):
    family = create_coupon(shop)
    visitor, page = people("Viewer"), f"{_HERE}/{shop.programs[0]}/{family['id']}"
    for path in (_HERE, page, f"{_HERE}/new"):
        html = visitor.open(path).text
        assert re.findall(r'<form method="post" action="([^"]+)"', html) == ["/theme", "/sign-out"], path
    assert visitor.send(f"{page}/archive", {"_key": "k"}).status_code == 403


_CODE = {
    "_key": "k",
    "email": "jane@example.com",
    "code": "JANE15",
    "discountType": "PercentOff",
    "discountValue": "15",
}


@pytest.fixture
def store(brand):
    """Return the simulated store of a brand with one campaign and the affiliate Jane."""
    with play_gateway("shopify") as gateway:
        brand.program(name="Spring")
        brand.affiliate("jane")
        connect_gateway(brand.person("Owner"), gateway)
        yield gateway


def test_code_without_a_coupon_is_minted_at_the_store(brand, store, people):
    visitor, form = people(), _CODE | {"programId": str(brand.programs[0])}
    assert f'href="{_HERE}/codes/new"' in visitor.open(_HERE).text
    assert "New code</h1>" in visitor.open(f"{_HERE}/codes/new").text

    answer = visitor.send(f"{_HERE}/codes/new", form | {"maxRedemptions": "7", "expiresAt": "2099-12-31"})

    assert answer.status_code == 303, answer.text
    assert len(store.codes.list_live_ids("JANE15")) == 1
    assert (store.codes.terms("JANE15").percent, store.codes.terms("JANE15").cap) == (15, 7)
    html = visitor.open(answer.headers["Location"]).text
    assert "The code was created." in html
    assert _names(html, "Codes") == ["JANE15"]
    assert "15\N{NO-BREAK SPACE}% off the first payment" in html
    assert "in Shopify" in html


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"email": "zoe@example.com"}, "email"),
        ({"code": "ab"}, "code"),
        ({"discountValue": ""}, "discountValue"),
        ({"discountValue": "101"}, "discountValue"),
        ({"discountType": "AmountOff"}, "discountCurrency"),
        ({"expiresAt": "soon"}, "expiresAt"),
        ({"maxRedemptions": "0"}, "maxRedemptions"),
    ],
)
def test_bad_field_of_a_new_code_is_marked_and_nothing_is_minted(brand, store, people, typed, field):
    form = _CODE | {"programId": str(brand.programs[0]), "discountCurrency": "", "expiresAt": "", "maxRedemptions": ""}

    answer = people().send(f"{_HERE}/codes/new", form | typed)

    assert answer.status_code == (422 if field == "email" else 400)
    assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', answer.text), answer.text
    assert store.codes.rows == []


def test_new_code_without_a_store_is_refused_with_the_reason(brand, people):
    brand.program()
    brand.affiliate("jane")

    answer = people().send(f"{_HERE}/codes/new", _CODE | {"programId": str(brand.programs[0])})

    assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)
    assert "Connect a store" in answer.text


def test_free_plan_has_no_coupon_pages_and_keeps_its_affiliates(shop, people):
    ((jane,),) = shop.rows("select id from affiliate")
    shop.set(plan="Free")
    visitor = people()

    profile = visitor.open(f"/dashboard/affiliates/{jane}")

    assert profile.status_code == 200
    assert "Coupon codes" not in profile.text
    assert f'href="{_HERE}"' not in profile.text
    assert {visitor.open(path).status_code for path in (_HERE, f"{_HERE}/{UNKNOWN_ID}/{UNKNOWN_ID}")} == {402}
    assert "Your role can view" in visitor.open(f"{_HERE}/codes/new").text
