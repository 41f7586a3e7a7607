"""A signed sale by a slug with links in several campaigns. Source: tracking spec, section 7 "Errors" and section 8."""

import itertools

import pytest

_LEADS = {"default_commission_model": "Cpl", "default_commission_type": "Fixed", "default_commission_value": 5}
_CLICKS = _LEADS | {"default_commission_model": "Cpc"}
_WITH_LEG = _LEADS | {"sale_commission_type": "Percentage", "sale_commission_value": 5}
_SALES: dict[str, object] = {}


def _create_campaigns(brand, *terms, statuses=()):
    """Create campaigns, oldest first, with ben in each, and return their ids."""
    campaigns = []
    for columns, status in itertools.zip_longest(terms, statuses, fillvalue="Approved"):
        campaigns.append(brand.program(**columns))
        brand.affiliate("ben", status=status)
    return campaigns


def _list_credits(brand, drain):
    answer = brand.sale(affiliateSlug="ben", amountCents=10_000)
    assert answer.status_code == 200, answer.data
    drain()
    return brand.rows("select program_id, commission_cents, payability from conversion")


@pytest.mark.parametrize("first", [_LEADS, _CLICKS], ids=["leads", "clicks"])
@pytest.mark.parametrize(("second", "cents"), [(_SALES, 2_000), (_WITH_LEG, 500)], ids=["sales", "sale leg"])
def test_sale_is_credited_in_the_sale_campaign(brand, drain, first, second, cents):
    _, paying = _create_campaigns(brand, first, second)

    assert _list_credits(brand, drain) == [(paying, cents, "payable")]


def test_older_of_two_sale_campaigns_is_credited(brand, drain):
    _, older, _ = _create_campaigns(brand, _LEADS, _SALES, _SALES)

    assert _list_credits(brand, drain)[0][0] == older


def test_approved_affiliate_takes_precedence_over_an_older_unapproved_one(brand, drain):
    _, _, approved = _create_campaigns(brand, _SALES, _LEADS, _SALES, statuses=("Paused", "Approved", "Approved"))

    assert _list_credits(brand, drain)[0][0] == approved


@pytest.mark.parametrize(
    ("terms", "statuses", "code"),
    [
        ([_LEADS, _CLICKS], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_LEADS, _SALES], ["Approved", "Paused"], "affiliate_not_active"),
        ([_LEADS, _SALES | {"is_active": False}], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_SALES | {"is_active": False}, _LEADS], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_SALES | {"is_active": False}, _SALES], ["Approved", "Pending"], "affiliate_not_active"),
        ([_SALES | {"is_active": False}] * 2, ["Approved", "Approved"], "no_active_program"),
    ],
)
def test_sale_without_a_payable_campaign_is_refused(brand, terms, statuses, code):
    campaigns = _create_campaigns(brand, *terms, statuses=statuses)

    answer = brand.sale(affiliateSlug="ben")

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from sale") == [(0,)]
    uncredited = brand.rows("select program_id from uncredited_conversion")
    assert uncredited == ([(campaigns[1],)] if code == "affiliate_not_active" else [])


def test_sale_in_one_campaign_converts_a_lead_of_another(brand, drain):
    first, _ = _create_campaigns(brand, _LEADS, _SALES)
    lead = {"affiliateSlug": "ben", "email": "ada@example.com", "programId": str(first), "subId": "news"}
    assert "leadId" in (brand.post_signed("/api/tracking/lead", lead).json or {})
    answer = brand.sale(affiliateSlug="ben", customerEmail="ada@example.com")
    drain()

    assert brand.rows("select state, converted_by_conversion_id::text from lead") == [
        ("Converted", answer.json["conversionId"])
    ]
    assert brand.rows("select sub_id from conversion where source = 's2s'") == [("news",)]
