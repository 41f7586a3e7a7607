"""Recording a conversion by hand on the dashboard."""

import re

import pytest

_HERE = "/dashboard/conversions/new"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign at 20 %, the affiliate Ada and the paused affiliate Ben."""
    brand.program(name="Spring")
    brand.affiliate("ada", full_name="Ada Ek")
    brand.affiliate("ben", status="Paused")
    return brand


def _form(brand, **typed):
    return {
        "_key": "k", "kind": "sale", "programId": str(brand.programs[-1]), "affiliate": "ada@example.com",
        "amount": "1,234.50", "currency": "EUR", "commission": "", "customerEmail": "", "occurredAt": "", "note": "",
    } | typed  # fmt: skip


def _list_conversions(brand):
    return brand.rows("select type, amount_cents, commission_cents, currency from conversion")


@pytest.mark.parametrize("affiliate", ["ada@example.com", " ADA@example.com ", "Ada Ek"])
def test_sale_is_recorded_and_shown(campaign, people, affiliate):
    answer = people("Manager").send(_HERE, _form(campaign, affiliate=affiliate))

    ((conversion_id,),) = campaign.rows("select id from conversion")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/dashboard/conversions/{conversion_id}")
    assert _list_conversions(campaign) == [("OneTime", 123_450, 24_690, "EUR")]


@pytest.mark.parametrize(
    ("typed", "row"),
    [
        ({"amount": "1234", "currency": "JPY"}, ("OneTime", 1_234, 247, "JPY")),
        ({"amount": "10", "currency": ""}, ("OneTime", 1_000, 200, "USD")),
        ({"amount": "10", "commission": "0"}, ("OneTime", 1_000, 0, "EUR")),
        ({"kind": "bonus", "amount": "", "commission": "5.5"}, ("Bonus", 0, 550, "EUR")),
        ({"amount": "10", "occurredAt": "2026-01-02T03:04"}, ("OneTime", 1_000, 200, "EUR")),
    ],
)
def test_amounts_are_typed_in_major_units(campaign, people, typed, row):
    assert people().send(_HERE, _form(campaign, **typed)).status_code == 303
    assert _list_conversions(campaign) == [row]


def test_double_click_records_one_conversion(campaign, people):
    visitor = people()
    addresses = {visitor.send(_HERE, _form(campaign)).headers["Location"] for _ in range(2)}

    assert len(addresses) == len(_list_conversions(campaign)) == 1


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"affiliate": ""}, "affiliate"),
        ({"affiliate": "zoe@example.com"}, "affiliate"),
        ({"affiliate": "\x00"}, "affiliate"),
        ({"programId": ""}, "programId"),
        ({"programId": "x"}, "programId"),
        ({"amount": "much"}, "amount"),
        ({"amount": "-5"}, "amount"),
        ({"amount": ""}, "amount"),
        ({"amount": "1.234"}, "amount"),
        ({"amount": "9" * 25}, "amount"),
        ({"currency": "XYZ"}, "currency"),
        ({"commission": "99999"}, "commission"),
        ({"kind": "bonus"}, "amount"),
        ({"kind": "gift"}, "kind"),
        ({"customerEmail": "nobody"}, "customerEmail"),
        ({"occurredAt": "2099-01-01T00:00"}, "occurredAt"),
        ({"occurredAt": "soon"}, "occurredAt"),
    ],
)
def test_error_is_shown_at_its_field_with_the_typed_values(campaign, people, typed, field):
    answer = people().send(_HERE, _form(campaign, note="My <note>", **typed))

    assert answer.status_code in (400, 422)
    assert "<title>Error:" in answer.text
    assert re.search(rf'id="{field}"[^>]* aria-invalid="true"', answer.text), answer.text
    assert "My &lt;note&gt;</textarea>" in answer.text
    assert _list_conversions(campaign) == []


def test_ineligible_affiliate_shows_an_error_with_a_link(campaign, people):
    answer = people().send(_HERE, _form(campaign, affiliate="ben@example.com"))

    assert answer.status_code == 409
    assert "The affiliate is Paused, not Approved." in answer.text
    assert "Open the affiliate" in answer.text


def test_uncredited_sale_is_credited_by_hand(campaign, people):
    assert campaign.sale(affiliateSlug="ben", amountCents=4_900, currency="EUR").status_code == 400
    ((uncredited_id,),) = campaign.rows("select id from uncredited_conversion")
    campaign.rows("update affiliate set status = 'Approved' where full_name = 'Ben' returning 1")
    visitor = people()
    html = visitor.open(f"{_HERE}?uncredited={uncredited_id}").text
    prefilled = dict(re.findall(r'<input id="(\w+)" name="\w+" type="[\w-]+" value="([^"]*)"', html))

    assert (prefilled["amount"], prefilled["currency"], prefilled["affiliate"]) == ("49.00", "EUR", "ben@example.com")
    assert f'name="uncredited" value="{uncredited_id}"' in html
    form = _form(campaign, **prefilled, uncredited=str(uncredited_id))
    assert visitor.send(_HERE, form).status_code == 303
    assert campaign.rows("select status from uncredited_conversion") == [("dismissed",)]
    assert _list_conversions(campaign) == [("OneTime", 4_900, 980, "EUR")]


def test_another_brands_row_prefills_nothing(campaign, people, rival):
    rival.program()
    rival.affiliate("evangeline", status="Paused")
    rival.sale(affiliateSlug="evangeline", amountCents=777)
    ((uncredited_id,),) = rival.rows("select id from uncredited_conversion")

    html = people().open(f"{_HERE}?uncredited={uncredited_id}").text
    assert "evangeline" not in html
    assert "uncredited" not in html


def test_viewer_gets_no_form_for_a_new_conversion(campaign, people):
    visitor = people("Viewer")

    assert visitor.open(_HERE).status_code == 403
    assert visitor.send(_HERE, _form(campaign)).status_code == 403
    assert _list_conversions(campaign) == []


def test_brand_without_program_sees_the_next_step(brand, people):
    html = people().open(_HERE).text

    assert '<a class="button primary" href="/dashboard/programs/new">Create your first program</a>' in html
