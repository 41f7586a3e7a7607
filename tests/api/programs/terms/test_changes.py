"""Changes of a program's terms, through HTTP: new values are validated together with the unchanged ones."""

from decimal import Decimal

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.api.terms import PROGRAMS, change_program

SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}

CLICKS = {
    "name": "Spring",
    "defaultCommissionType": "Fixed",
    "defaultCommissionValue": 1,
    "defaultCommissionModel": "Cpc",
    "leadBountyCents": 50,
    "saleCommissionType": "Percentage",
    "saleCommissionValue": 5,
}

LEADS = CLICKS | {"defaultCommissionModel": "Cpl", "clickRewardCents": 7}

LEGS = ("leadBountyCents", "clickRewardCents", "saleCommissionType", "saleCommissionValue")


def _create(brand, body=SALES, **fields):
    answer = brand.post(PROGRAMS, body | fields)
    assert answer.status_code == 201, answer.json
    return {name: value for name, value in answer.json.items() if name != "warnings"}


def _legs(program):
    return tuple(program[leg] for leg in LEGS)


@pytest.mark.parametrize(
    ("base", "fields", "code"),
    [
        (SALES, {"defaultCommissionValue": 100.01}, "percentage_out_of_range"),
        (SALES, {"defaultCommissionValue": -1}, "percentage_out_of_range"),
        (SALES, {"defaultCommissionValue": 10**18}, "percentage_out_of_range"),
        (SALES, {"defaultCommissionType": "Fixed", "defaultCommissionValue": 1e6 + 1}, "fixed_commission_out_of_range"),
        (SALES, {"defaultCommissionModel": "Cpc"}, "invalid_commission_type"),
        (SALES, {"defaultCommissionModel": "Cpl"}, "invalid_commission_type"),
        (SALES, {"defaultCommissionModel": "Hybrid"}, "invalid_commission_model"),
        (SALES, {"leadBountyCents": 9}, "lead_bounty_out_of_range"),
        (SALES, {"leadBountyCents": 100_001}, "lead_bounty_out_of_range"),
        (SALES, {"leadBountyCents": -10}, "lead_bounty_out_of_range"),
        (SALES, {"clickRewardCents": 100_001}, "click_reward_out_of_range"),
        (SALES, {"clickRewardCents": -1}, "click_reward_out_of_range"),
        (SALES, {"budgetCents": 10_000_000_001}, "budget_out_of_range"),
        (SALES, {"budgetCents": -1}, "budget_out_of_range"),
        (SALES, {"budgetCents": 10**18}, "budget_out_of_range"),
        (SALES, {"hostedCheckoutDoorMode": "popup"}, "invalid_hosted_checkout_door_mode"),
        (SALES, {"hostedCheckoutDoorMode": None}, "invalid_hosted_checkout_door_mode"),
        (SALES, {"hostedCheckoutThankYouUrl": "javascript:alert(1)"}, "invalid_hosted_checkout_thank_you_url"),
        (SALES, {"hostedCheckoutThankYouUrl": 7}, "invalid_hosted_checkout_thank_you_url"),
        (CLICKS, {"defaultCommissionType": "Percentage"}, "invalid_commission_type"),
        (CLICKS, {"defaultCommissionValue": 1000.01}, "unit_fee_out_of_range"),
        (CLICKS, {"saleCommissionValue": 101}, "percentage_out_of_range"),
        (CLICKS, {"saleCommissionType": "Fixed", "saleCommissionValue": 1_000_001}, "fixed_commission_out_of_range"),
        (CLICKS, {"saleCommissionType": None, "saleCommissionValue": 5}, "sale_commission_incomplete"),
        (CLICKS, {"saleCommissionType": "Fixed", "saleCommissionValue": None}, "sale_commission_incomplete"),
        (LEADS, {"defaultCommissionModel": "Cpc", "defaultCommissionValue": 1001}, "unit_fee_out_of_range"),
    ],
)
def test_invalid_change_is_refused_with_its_code(brand, base, fields, code):
    before = _create(brand, base)

    answer = change_program(brand, before["id"], **fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert answer.json["field"]
    assert brand.get(f"{PROGRAMS}/{before['id']}").json == before


def test_incomplete_sale_leg_is_refused(brand):
    without_sale_leg = {name: value for name, value in CLICKS.items() if not name.startswith("sale")}
    program_id = _create(brand, without_sale_leg)["id"]

    for fields in ({"saleCommissionType": "Fixed"}, {"saleCommissionValue": 5}):
        answer = change_program(brand, program_id, **fields)

        assert (answer.status_code, answer.json["error"]) == (400, "sale_commission_incomplete")


@pytest.mark.parametrize(
    "fields",
    [
        {"saleCommissionValue": 0},
        {"saleCommissionType": "Fixed", "saleCommissionValue": 0},
        {"saleCommissionType": None, "saleCommissionValue": None},
        {"saleCommissionType": None},
        {"saleCommissionValue": None},
    ],
)
@pytest.mark.parametrize("base", [CLICKS, LEADS])
def test_sale_leg_is_cleared_as_a_pair(brand, base, fields):
    before = _create(brand, base)

    after = change_program(brand, before["id"], **fields).json

    assert _legs(after) == (*_legs(before)[:2], None, None)


@pytest.mark.parametrize(
    ("base", "fields", "legs"),
    [
        (CLICKS, {"defaultCommissionModel": "Cpl"}, (None, None, "Percentage", 5)),
        (LEADS, {"defaultCommissionModel": "Cpc"}, (None, None, "Percentage", 5)),
        (CLICKS, {"defaultCommissionModel": "Cps"}, (50, None, None, None)),
        (LEADS, {"defaultCommissionModel": "Cps"}, (None, 7, None, None)),
        (CLICKS, {"clickRewardCents": 9}, (50, None, "Percentage", 5)),
        (LEADS, {"leadBountyCents": 90}, (None, 7, "Percentage", 5)),
        (SALES, {"saleCommissionType": "Fixed", "saleCommissionValue": 5}, (None, None, None, None)),
        (
            SALES,
            {"defaultCommissionModel": "Cpl", "defaultCommissionType": "Fixed", "leadBountyCents": 50},
            (None, None, None, None),
        ),
        (CLICKS, {"defaultCommissionModel": "Cpl", "clickRewardCents": 3}, (None, 3, "Percentage", 5)),
    ],
)
def test_leg_duplicating_the_primary_commission_is_dropped(brand, base, fields, legs):
    program_id = _create(brand, base)["id"]

    answer = change_program(brand, program_id, **fields)

    assert answer.status_code == 200
    assert _legs(answer.json) == legs


def test_changed_type_is_validated_with_the_unchanged_value(brand):
    program_id = _create(brand, defaultCommissionType="Fixed", defaultCommissionValue=150)["id"]

    refused = change_program(brand, program_id, defaultCommissionType="Percentage")
    accepted = change_program(brand, program_id, defaultCommissionType="Percentage", defaultCommissionValue=15)

    assert (refused.status_code, refused.json["error"]) == (400, "percentage_out_of_range")
    assert (accepted.json["defaultCommissionType"], accepted.json["defaultCommissionValue"]) == ("Percentage", 15)


def test_concurrent_contradicting_changes_do_not_both_apply(brand):
    for _ in range(5):
        program_id = _create(brand, defaultCommissionType="Fixed", defaultCommissionValue=1)["id"]
        changes = [{"defaultCommissionModel": "Cpc"}, {"defaultCommissionType": "Percentage"}]

        answers = run_concurrently(
            *[lambda fields=fields, id=program_id: change_program(brand, id, **fields) for fields in changes]
        )

        assert sorted(answer.status_code for answer in answers) == [200, 400]


@pytest.mark.parametrize("model", ["Cpa", "RevShare", "Hybrid"])
def test_legacy_model_is_only_valid_for_a_program_that_has_it(brand, model):
    program_id = brand.program(default_commission_model=model)

    unchanged = change_program(brand, program_id, defaultCommissionModel=model, name="Legacy")
    other = change_program(brand, program_id, defaultCommissionModel="Hybrid" if model == "Cpa" else "Cpa")
    modern = change_program(brand, program_id, defaultCommissionModel="Cps")
    restored = change_program(brand, program_id, defaultCommissionModel=model)

    assert (unchanged.status_code, unchanged.json["defaultCommissionModel"], unchanged.json["name"]) == (
        200,
        model,
        "Legacy",
    )
    assert (modern.status_code, modern.json["defaultCommissionModel"]) == (200, "Cps")
    for refused in (other, restored):
        assert (refused.status_code, refused.json["error"]) == (400, "invalid_commission_model")
        assert refused.json["field"] == "defaultCommissionModel"


INVITE_ONLY = (False, "InviteOnly", False)


def _visibility(program):
    return (program["autoApprove"], program["networkVisibility"], program["isPubliclyDiscoverable"])


def test_turning_a_click_reward_on_makes_the_program_invite_only(brand):
    program_id = _create(brand, autoApprove=True)["id"]

    program = change_program(brand, program_id, clickRewardCents=5).json

    assert (program["clickRewardCents"], *_visibility(program)) == (5, *INVITE_ONLY)


def test_program_stays_invite_only_while_its_click_reward_is_on(brand):
    program_id = _create(brand, clickRewardCents=5)["id"]
    opening = {"autoApprove": True, "networkVisibility": "Networked", "isPubliclyDiscoverable": True}

    forced = change_program(brand, program_id, **opening)
    change_program(brand, program_id, clickRewardCents=0)
    free = change_program(brand, program_id, autoApprove=True, isPubliclyDiscoverable=True)

    assert (forced.status_code, *_visibility(forced.json)) == (200, *INVITE_ONLY)
    assert _visibility(free.json) == (True, "InviteOnly", True)


def test_dropped_click_reward_leaves_the_visibility_unchanged(brand):
    program_id = _create(brand, CLICKS, autoApprove=True)["id"]

    assert _visibility(change_program(brand, program_id, clickRewardCents=5).json) == (True, "Private", True)


def test_listing_in_the_network_is_saved_as_private(brand):
    program_id = _create(brand, networkVisibility="InviteOnly")["id"]

    answer = change_program(brand, program_id, networkVisibility="Networked")

    assert (answer.status_code, answer.json["networkVisibility"]) == (200, "Private")


def test_listed_program_stays_listed_until_it_is_changed(brand):
    program_id = brand.program(network_visibility="Networked")

    unchanged = change_program(brand, program_id, networkVisibility="Networked", name="Listed").json
    unlisted = change_program(brand, program_id, networkVisibility="Private").json

    assert (unchanged["networkVisibility"], unlisted["networkVisibility"]) == ("Networked", "Private")


def _store_rate(currency, per_usd, day):
    with db.any_org_work():
        db.db.run("insert into fx_rate values (%s, %s, %s) on conflict do nothing", (currency, day, per_usd))


def test_unchanged_amount_is_not_validated_with_a_new_rate(brand):
    brand.set(currency="MKD")
    _store_rate("MKD", 1, "2026-01-01")
    highest = {"budgetCents": 10**10, "leadBountyCents": 100_000, "clickRewardCents": 100_000}
    program_id = _create(brand, defaultCommissionType="Fixed", defaultCommissionValue=10**6, **highest)["id"]
    _store_rate("MKD", Decimal("0.5"), "2026-01-02")

    renamed = change_program(brand, program_id, name="Summer", defaultCommissionValue=10**6, **highest)
    lowered = change_program(brand, program_id, budgetCents=5 * 10**9)

    assert (renamed.status_code, renamed.json["name"]) == (200, "Summer")
    assert lowered.status_code == 200
    for fields, code in [
        ({"budgetCents": 5 * 10**9 + 1}, "budget_out_of_range"),
        ({"defaultCommissionValue": 500_000.01}, "fixed_commission_out_of_range"),
        ({"leadBountyCents": 50_001}, "lead_bounty_out_of_range"),
        ({"clickRewardCents": 50_001}, "click_reward_out_of_range"),
    ]:
        refused = change_program(brand, program_id, **fields)
        assert (refused.status_code, refused.json["error"], refused.json["homeCurrency"]) == (400, code, "MKD")


def test_changed_model_validates_every_amount_again(brand):
    brand.set(currency="MDL")
    _store_rate("MDL", 1, "2026-01-01")
    base = CLICKS | {"leadBountyCents": None, "defaultCommissionValue": 400, "budgetCents": 10**10}
    program_id = _create(brand, base)["id"]
    _store_rate("MDL", Decimal("0.5"), "2026-01-02")

    refused = change_program(brand, program_id, defaultCommissionModel="Cpl")
    accepted = change_program(brand, program_id, defaultCommissionModel="Cpl", budgetCents=5 * 10**9)

    assert (refused.status_code, refused.json["error"]) == (400, "budget_out_of_range")
    assert accepted.status_code == 200
