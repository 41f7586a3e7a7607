"""A signed sale by a slug with links in several campaigns. Source: tracking spec, section 7 "Errors" and section 8."""

import itertools

import pytest

_LEADS = {"default_commission_model": "Cpl", "default_commission_type": "Fixed", "default_commission_value": 5}
_CLICKS = _LEADS | {"default_commission_model": "Cpc"}
_WITH_LEG = _LEADS | {"sale_commission_type": "Percentage", "sale_commission_value": 5}
_SALES: dict[str, object] = {}


def _campaigns(brand, *several, statuses=()):
    """Make campaigns, the oldest first, with ben in each; return their ids."""
    campaigns = []
    for columns, status in itertools.zip_longest(several, statuses, fillvalue="Approved"):
        campaigns.append(brand.program(**columns))
        brand.affiliate("ben", status=status)
    return campaigns


def _credited(brand, drain):
    answer = brand.sale(affiliateSlug="ben", amountCents=10_000)
    assert answer.status_code == 200, answer.data
    drain()
    return brand.rows("select program_id, commission_cents, payability from conversion")


@pytest.mark.parametrize("first", [_LEADS, _CLICKS], ids=["leads", "clicks"])
@pytest.mark.parametrize(("second", "cents"), [(_SALES, 2_000), (_WITH_LEG, 500)], ids=["sales", "sale leg"])
def test_sale_is_credited_in_the_campaign_that_pays_for_sales(brand, drain, first, second, cents):
    _, paying = _campaigns(brand, first, second)

    assert _credited(brand, drain) == [(paying, cents, "payable")]


def test_of_two_campaigns_that_pay_for_sales_the_older_is_credited(brand, drain):
    _, older, _ = _campaigns(brand, _LEADS, _SALES, _SALES)

    assert _credited(brand, drain)[0][0] == older


def test_affiliate_who_is_approved_goes_before_an_older_one_who_is_not(brand, drain):
    _, _, approved = _campaigns(brand, _SALES, _LEADS, _SALES, statuses=("Paused", "Approved", "Approved"))

    assert _credited(brand, drain)[0][0] == approved


@pytest.mark.parametrize(
    ("several", "statuses", "code"),
    [
        ([_LEADS, _CLICKS], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_LEADS, _SALES], ["Approved", "Paused"], "affiliate_not_active"),
        ([_LEADS, _SALES | {"is_active": False}], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_SALES | {"is_active": False}, _LEADS], ["Approved", "Approved"], "not_a_sale_campaign"),
        ([_SALES | {"is_active": False}, _SALES], ["Approved", "Pending"], "affiliate_not_active"),
        ([_SALES | {"is_active": False}] * 2, ["Approved", "Approved"], "no_active_program"),
    ],
)
def test_sale_is_refused_only_where_no_campaign_can_pay(brand, several, statuses, code):
    campaigns = _campaigns(brand, *several, statuses=statuses)

    answer = brand.sale(affiliateSlug="ben")

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from sale") == [(0,)]
    listed = brand.rows("select program_id from uncredited_conversion")
    assert listed == ([(campaigns[1],)] if code == "affiliate_not_active" else [])


def test_lead_of_the_first_campaign_is_converted_by_the_sale_in_the_second(brand, drain):
    first, _ = _campaigns(brand, _LEADS, _SALES)
    lead = {"affiliateSlug": "ben", "email": "ada@example.com", "programId": str(first), "subId": "news"}
    assert "leadId" in (brand.post_signed("/api/tracking/lead", lead).json or {})
    answer = brand.sale(affiliateSlug="ben", customerEmail="ada@example.com")
    drain()

    assert brand.rows("select state, converted_by_conversion_id::text from lead") == [
        ("Converted", answer.json["conversionId"])
    ]
    assert brand.rows("select sub_id from conversion where source = 's2s'") == [("news",)]
