"""Valid and invalid terms of a new program, through HTTP."""

import pytest

from models import db

MINIMAL = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
URL = "/api/v1/programs"


def _create(brand, **fields):
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
def test_invalid_terms_are_refused_with_their_code(brand, fields, code):
    answer = _create(brand, **fields)

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
def test_invalid_terms_of_a_click_or_lead_program_are_refused(brand, model, fields, code):
    base = {"defaultCommissionModel": model, "defaultCommissionType": "Fixed", "defaultCommissionValue": 1}

    answer = _create(brand, **base | fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)


def test_range_limits_are_inclusive(brand):
    fixed = _create(brand, defaultCommissionType="Fixed", defaultCommissionValue=1_000_000, budgetCents=10**10)
    highest_bounty = _create(brand, leadBountyCents=100_000, clickRewardCents=1)
    lowest_bounty = _create(brand, leadBountyCents=10, clickRewardCents=100_000, defaultCommissionValue=100)

    assert [answer.status_code for answer in (fixed, highest_bounty, lowest_bounty)] == [201, 201, 201]


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_unit_fee_of_a_thousand_is_accepted(brand, model):
    answer = _create(brand, defaultCommissionModel=model, defaultCommissionType="Fixed", defaultCommissionValue=1_000)

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
def test_limits_are_in_the_home_currency_at_its_newest_rate(brand, *, base, field, inside, outside, code):
    brand.set(currency="MOP")
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into fx_rate values ('MOP', '2026-01-01', 5), ('MOP', '2026-01-02', 0.5) on conflict do nothing"
        )

    accepted = _create(brand, **base | {field: inside})
    refused = _create(brand, **base | {field: outside})

    assert (accepted.status_code, accepted.json[field]) == (201, inside)
    assert refused.status_code == 400
    assert {name: refused.json[name] for name in refused.json if name not in {"message", "doc_url"}} == {
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
def test_refusal_of_a_bounty_or_reward_names_the_home_currency(brand, fields, code):
    answer = _create(brand, **fields)

    assert (answer.json["error"], answer.json["homeCurrency"]) == (code, "USD")


def test_amount_without_a_rate_is_not_converted(brand):
    brand.set(currency="ISK")

    accepted = _create(brand, budgetCents=1_300_000_000_000, leadBountyCents=1, clickRewardCents=1)
    refused = _create(brand, budgetCents=10**18)

    assert accepted.status_code == 201
    assert (refused.status_code, refused.json["error"]) == (400, "budget_out_of_range")


def test_click_rewards_make_a_program_invite_only(brand):
    program = _create(
        brand, clickRewardCents=5, autoApprove=True, networkVisibility="Networked", isPubliclyDiscoverable=True
    ).json

    assert (program["autoApprove"], program["networkVisibility"], program["isPubliclyDiscoverable"]) == (
        False,
        "InviteOnly",
        False,
    )


def test_listing_in_the_network_is_saved_as_private(brand):
    answer = _create(brand, networkVisibility="Networked")

    assert (answer.status_code, answer.json["networkVisibility"]) == (201, "Private")


@pytest.mark.parametrize(
    ("model", "expected"), [("Cpc", (50, None, "Percentage", 5)), ("Cpl", (None, 7, "Percentage", 5))]
)
def test_leg_duplicating_the_primary_commission_is_dropped(brand, model, expected):
    program = _create(
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
    assert tuple(program[leg] for leg in legs) == expected


def test_sale_program_has_no_separate_sale_leg(brand):
    program = _create(brand, saleCommissionType="Percentage", saleCommissionValue=5).json

    assert (program["saleCommissionType"], program["saleCommissionValue"]) == (None, None)


def test_zero_and_empty_values_clear_fields(brand):
    program = _create(brand, leadBountyCents=0, clickRewardCents=0, hostedCheckoutThankYouUrl="").json

    assert (program["leadBountyCents"], program["clickRewardCents"], program["hostedCheckoutThankYouUrl"]) == (
        None,
        None,
        None,
    )
