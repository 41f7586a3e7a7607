"""Which terms a program may have, through HTTP."""

import pytest

from models import db

MINIMAL = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
URL = "/api/v1/programs"


def _program(brand, **fields):
    return brand.post(URL, MINIMAL | fields)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"defaultCommissionModel": "Cpc"}, "invalid_commission_type"),
        ({"defaultCommissionModel": "Cpl"}, "invalid_commission_type"),
        ({"defaultCommissionValue": 100.01}, "percentage_out_of_range"),
        ({"defaultCommissionValue": -1}, "percentage_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": 1_000_000.01}, "fixed_commission_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": -1}, "fixed_commission_out_of_range"),
        ({"defaultCommissionType": "Fixed", "defaultCommissionValue": 10**18}, "fixed_commission_out_of_range"),
        ({"leadBountyCents": 9}, "lead_bounty_out_of_range"),
        ({"leadBountyCents": 100_001}, "lead_bounty_out_of_range"),
        ({"leadBountyCents": -10}, "lead_bounty_out_of_range"),
        ({"clickRewardCents": 100_001}, "click_reward_out_of_range"),
        ({"clickRewardCents": -1}, "click_reward_out_of_range"),
        ({"budgetCents": 10_000_000_001}, "budget_out_of_range"),
        ({"budgetCents": -1}, "budget_out_of_range"),
        ({"budgetCents": 10**18}, "budget_out_of_range"),
        ({"hostedCheckoutDoorMode": "popup"}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutDoorMode": 5}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutDoorMode": ["email"]}, "invalid_hosted_checkout_door_mode"),
        ({"hostedCheckoutThankYouUrl": "javascript:alert(1)"}, "invalid_hosted_checkout_thank_you_url"),
        ({"hostedCheckoutThankYouUrl": "https://["}, "invalid_hosted_checkout_thank_you_url"),
        ({"hostedCheckoutThankYouUrl": 7}, "invalid_hosted_checkout_thank_you_url"),
    ],
)
def test_what_a_program_cannot_be_is_refused_by_its_code(brand, fields, code):
    answer = _program(brand, **fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from program") == [(0,)]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"defaultCommissionValue": 1000.01}, "unit_fee_out_of_range"),
        ({"saleCommissionType": "Percentage"}, "sale_commission_incomplete"),
        ({"saleCommissionValue": 5}, "sale_commission_incomplete"),
        ({"saleCommissionType": "Percentage", "saleCommissionValue": 101}, "percentage_out_of_range"),
        ({"saleCommissionType": "Fixed", "saleCommissionValue": 1_000_001}, "fixed_commission_out_of_range"),
    ],
)
@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_what_a_click_or_lead_program_cannot_be_is_refused(brand, model, fields, code):
    base = {"defaultCommissionModel": model, "defaultCommissionType": "Fixed", "defaultCommissionValue": 1}

    answer = _program(brand, **base | fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)


def test_the_edges_of_the_limits_are_inside(brand):
    fixed = _program(brand, defaultCommissionType="Fixed", defaultCommissionValue=1_000_000, budgetCents=10**10)
    bounty = _program(brand, leadBountyCents=100_000, clickRewardCents=1)
    least = _program(brand, leadBountyCents=10, clickRewardCents=100_000, defaultCommissionValue=100)

    assert [answer.status_code for answer in (fixed, bounty, least)] == [201, 201, 201]


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_a_unit_fee_goes_up_to_a_thousand(brand, model):
    answer = _program(brand, defaultCommissionModel=model, defaultCommissionType="Fixed", defaultCommissionValue=1_000)

    assert (answer.status_code, answer.json["defaultCommissionValue"]) == (201, 1_000)


FIXED = {"defaultCommissionType": "Fixed", "defaultCommissionModel": "Cps"}
PER_CLICK = FIXED | {"defaultCommissionModel": "Cpc"}
PER_LEAD = FIXED | {"defaultCommissionModel": "Cpl"}


@pytest.mark.parametrize(
    ("base", "field", "inside", "outside", "code"),
    [
        ({}, "budgetCents", 5_000_000_000, 5_000_000_001, "budget_out_of_range"),
        (FIXED, "defaultCommissionValue", 500_000, 500_000.01, "fixed_commission_out_of_range"),
        (PER_CLICK, "defaultCommissionValue", 500, 500.01, "unit_fee_out_of_range"),
        (PER_LEAD, "defaultCommissionValue", 500, 500.01, "unit_fee_out_of_range"),
        ({}, "leadBountyCents", 50_000, 50_001, "lead_bounty_out_of_range"),
        ({}, "leadBountyCents", 5, 4, "lead_bounty_out_of_range"),
        ({}, "clickRewardCents", 50_000, 50_001, "click_reward_out_of_range"),
        ({}, "clickRewardCents", 1, -1, "click_reward_out_of_range"),
    ],
)
def test_a_limit_names_the_home_currency_and_follows_its_newest_rate(brand, *, base, field, inside, outside, code):
    brand.set(currency="MOP")
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into fx_rate values ('MOP', '2026-01-01', 5), ('MOP', '2026-01-02', 0.5) on conflict do nothing"
        )

    taken = _program(brand, **base | {field: inside})
    refused = _program(brand, **base | {field: outside})

    assert (taken.status_code, taken.json[field]) == (201, inside)
    assert refused.status_code == 400
    assert {name: refused.json[name] for name in refused.json if name != "message"} == {
        "error": code,
        "field": field,
        "homeCurrency": "MOP",
    }
    assert "MOP" in refused.json["message"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"leadBountyCents": 9}, "lead_bounty_out_of_range"),
        ({"clickRewardCents": 100_001}, "click_reward_out_of_range"),
    ],
)
def test_the_refusal_of_a_bounty_or_reward_names_dollars_too(brand, fields, code):
    answer = _program(brand, **fields)

    assert (answer.json["error"], answer.json["homeCurrency"]) == (code, "USD")


def test_without_a_rate_an_amount_is_taken_as_it_is(brand):
    brand.set(currency="ISK")

    taken = _program(brand, budgetCents=1_300_000_000_000, leadBountyCents=1, clickRewardCents=1)
    absurd = _program(brand, budgetCents=10**18)

    assert taken.status_code == 201
    assert (absurd.status_code, absurd.json["error"]) == (400, "budget_out_of_range")


def test_click_rewards_make_a_program_invite_only(brand):
    shown = _program(
        brand, clickRewardCents=5, autoApprove=True, networkVisibility="Networked", isPubliclyDiscoverable=True
    ).json

    assert (shown["autoApprove"], shown["networkVisibility"], shown["isPubliclyDiscoverable"]) == (
        False,
        "InviteOnly",
        False,
    )


def test_listing_in_the_network_is_saved_as_private(brand):
    answer = _program(brand, networkVisibility="Networked")

    assert (answer.status_code, answer.json["networkVisibility"]) == (201, "Private")


@pytest.mark.parametrize(
    ("model", "kept"),
    [("Cpc", (50, None, "Percentage", 5)), ("Cpl", (None, 7, "Percentage", 5))],
)
def test_a_leg_that_the_primary_pays_already_is_dropped(brand, model, kept):
    shown = _program(
        brand,
        defaultCommissionModel=model,
        defaultCommissionType="Fixed",
        defaultCommissionValue=1.5,
        leadBountyCents=50,
        clickRewardCents=7,
        saleCommissionType="Percentage",
        saleCommissionValue=5,
    ).json

    legs = ("leadBountyCents", "clickRewardCents", "saleCommissionType", "saleCommissionValue")
    assert tuple(shown[leg] for leg in legs) == kept


def test_a_sale_program_has_no_sale_leg_beside_it(brand):
    shown = _program(brand, saleCommissionType="Percentage", saleCommissionValue=5).json

    assert (shown["saleCommissionType"], shown["saleCommissionValue"]) == (None, None)


def test_zero_and_empty_clear(brand):
    shown = _program(brand, leadBountyCents=0, clickRewardCents=0, hostedCheckoutThankYouUrl="").json

    assert (shown["leadBountyCents"], shown["clickRewardCents"], shown["hostedCheckoutThankYouUrl"]) == (
        None,
        None,
        None,
    )
