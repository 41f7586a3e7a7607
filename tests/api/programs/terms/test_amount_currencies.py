"""Amounts keep the currency in which they were set when the home currency changes, and are returned with it."""

import pytest

from tests.support.api.invite_requests import accept_invite, invite, list_emails, token_from_invite, unique_email
from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
AMOUNTS = {"budgetCents": 5_000, "minPayoutCents": 700, "leadBountyCents": 250, "clickRewardCents": 9}
FEE = {"name": "Spring", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1.5}
FIXED = {"customCommissionType": "Fixed", "customCommissionValue": 2}


@pytest.fixture
def pro(app):
    """Return a brand whose keys may change the home currency."""
    return Brand.create(app, plan="Pro")


def _set_home_currency(brand, code="EUR"):
    assert brand.call("PUT", "/api/v1/settings/home-currency", {"homeCurrency": code}).status_code == 200


def _create(brand, **fields):
    answer = brand.post(URL, fields)
    assert answer.status_code == 201, answer.json
    return {name: value for name, value in answer.json.items() if name != "warnings"}


def _change(brand, program_id, **fields):
    answer = brand.call("PATCH", f"{URL}/{program_id}", fields)
    assert answer.status_code == 200, answer.json
    return {name: value for name, value in answer.json.items() if name != "warnings"}


def _currency_field(amount):
    return amount.replace("Cents", "Currency")


def test_amount_is_in_the_home_currency_and_null_has_none(pro):
    without_amounts, with_amounts = _create(pro, **SALES), _create(pro, **SALES, **AMOUNTS)

    assert {without_amounts[_currency_field(amount)] for amount in AMOUNTS} == {None}
    assert {with_amounts[_currency_field(amount)] for amount in AMOUNTS} == {"USD"}
    assert pro.get(f"{URL}/{with_amounts['id']}").json == with_amounts
    assert pro.get(URL).json["items"] == [with_amounts, without_amounts]


def test_changed_home_currency_leaves_amounts_unchanged(pro):
    before = _create(pro, **SALES, **AMOUNTS)

    _set_home_currency(pro)

    assert pro.get(f"{URL}/{before['id']}").json == before
    renamed = _change(pro, before["id"], name="Summer")
    assert renamed == before | {"name": "Summer", "updatedAt": renamed["updatedAt"]}


@pytest.mark.parametrize("amount", list(AMOUNTS))
@pytest.mark.parametrize("is_same", [True, False], ids=["the same number", "another number"])
def test_only_the_sent_amount_takes_the_new_home_currency(pro, amount, is_same):
    before = _create(pro, **SALES, **AMOUNTS)
    _set_home_currency(pro)
    new_amount = AMOUNTS[amount] if is_same else AMOUNTS[amount] + 10

    after = _change(pro, before["id"], **{amount: new_amount})

    assert after == before | {amount: new_amount, _currency_field(amount): "EUR", "updatedAt": after["updatedAt"]}
    ((audited_before, audited_after),) = pro.rows(
        "select before, after from audit_entry where action = 'program.updated'"
    )
    assert (audited_before[_currency_field(amount)], audited_after[_currency_field(amount)]) == ("USD", "EUR")


@pytest.mark.parametrize("amount", list(AMOUNTS))
def test_cleared_amount_has_no_currency(pro, amount):
    program_id = _create(pro, **SALES, **AMOUNTS)["id"]

    assert _change(pro, program_id, **{amount: None})[_currency_field(amount)] is None


def test_new_program_is_in_the_new_home_currency(pro):
    _set_home_currency(pro, "JPY")

    program = _create(pro, **SALES, **AMOUNTS)

    assert {program[_currency_field(amount)] for amount in AMOUNTS} == {"JPY"}


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_click_or_lead_fee_keeps_its_currency_until_it_is_sent(pro, model):
    program_id = _create(pro, **FEE, defaultCommissionModel=model)["id"]
    _set_home_currency(pro)

    after_rename = _change(pro, program_id, name="Summer")["feeCurrency"]
    after_model_change = _change(pro, program_id, defaultCommissionModel="Cpl" if model == "Cpc" else "Cpc")[
        "feeCurrency"
    ]
    after_value = _change(pro, program_id, defaultCommissionValue=1.5)["feeCurrency"]

    assert (after_rename, after_model_change, after_value) == ("USD", "USD", "EUR")


def test_fixed_commission_per_sale_has_no_currency(pro):
    program_id = _create(pro, **FEE)["id"]
    _set_home_currency(pro)

    fee = _change(pro, program_id, defaultCommissionModel="Cpc")["feeCurrency"]
    sale = _change(pro, program_id, defaultCommissionModel="Cps")["feeCurrency"]

    assert (pro.get(f"{URL}/{program_id}").json["defaultCommissionValue"], fee, sale) == (1.5, "EUR", None)


def test_tiers_keep_their_currency_until_they_are_set_again(pro):
    url = f"{URL}/{pro.program()}/performance-tiers"
    tiers = [{"minRevenueCents": 5, "commissionType": "Percentage", "commissionValue": 10}]
    pro.call("PUT", url, tiers)
    _set_home_currency(pro)

    stored = pro.get(url).json
    replaced = pro.call("PUT", url, stored).json

    assert stored == [tiers[0] | {"currency": "USD"}]
    assert replaced == pro.get(url).json == [tiers[0] | {"currency": "EUR"}]


def test_minimum_payout_of_an_organization_keeps_its_currency_until_it_is_sent(pro):
    owner, url = pro.person("Owner"), "/api/organizations/me"

    def patch_minimum(**changes):
        profile = owner.call("PATCH", url, changes).json
        return profile["minPayoutCents"], profile["minPayoutCurrency"]

    assert patch_minimum(name="Acme") == (None, None)
    assert patch_minimum(minPayoutCents=500) == (500, "USD")
    _set_home_currency(pro)
    assert patch_minimum(name="Acme & Co") == (500, "USD")
    assert patch_minimum(minPayoutCents=500) == (500, "EUR")
    assert patch_minimum(minPayoutCents=None) == (None, None)


def _read_group_currency(brand):
    ((currency,),) = brand.rows("select commission_currency from partner_group")
    return currency


def test_groups_fixed_fee_keeps_its_currency_until_its_rate_is_sent(pro):
    program_id = pro.program(default_commission_model="Cpc", default_commission_type="Fixed")
    groups = f"{URL}/{program_id}/partner-groups"
    group = pro.post(groups, {"name": "Press", "commissionType": "Fixed", "commissionValue": 2}).json
    _set_home_currency(pro)

    currencies = [_read_group_currency(pro)]
    for changes in ({"name": "Friends"}, {"commissionValue": 2}):
        assert pro.call("PATCH", f"{groups}/{group['id']}", changes).status_code == 200
        currencies.append(_read_group_currency(pro))

    assert currencies == ["USD", "USD", "EUR"]


def test_groups_percentage_has_no_currency(pro):
    groups = f"{URL}/{pro.program()}/partner-groups"
    group = pro.post(groups, {"name": "Press", "commissionType": "Percentage", "commissionValue": 2}).json

    currencies = [_read_group_currency(pro)]
    for type in ("Fixed", "Percentage"):
        pro.call("PATCH", f"{groups}/{group['id']}", {"commissionType": type})
        currencies.append(_read_group_currency(pro))

    assert currencies == [None, "USD", None]


def _read_custom_currency(brand):
    ((currency,),) = brand.rows("select custom_commission_currency from affiliate")
    return currency


def test_affiliates_fixed_fee_keeps_its_currency_until_it_is_sent(pro):
    program_id = pro.program(default_commission_model="Cpc", default_commission_type="Fixed")
    affiliate = pro.post("/api/v1/affiliates", {"programId": str(program_id), "email": unique_email(), **FIXED}).json
    _set_home_currency(pro)

    currencies = [_read_custom_currency(pro)]
    cleared = {"customCommissionType": None, "customCommissionValue": None}
    for changes in ({"notes": "x"}, FIXED, cleared):
        assert pro.call("PATCH", f"/api/v1/affiliates/{affiliate['id']}", changes).status_code == 200
        currencies.append(_read_custom_currency(pro))

    assert currencies == ["USD", "USD", "EUR", None]


def test_invited_fee_keeps_the_currency_of_its_offer(pro):
    pro.program(default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=1)
    manager = pro.person("Manager")
    invited = invite(manager, **FIXED)
    _set_home_currency(pro)

    resent = manager.post(f"/api/affiliate-invites/{invited.json['invite']['id']}/resend")
    assert accept_invite(pro, token_from_invite(resent)).status_code == 200

    assert _read_custom_currency(pro) == "USD"


def test_invite_email_names_the_fee_in_its_own_currency(pro):
    pro.program(default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=1)
    manager = pro.person("Manager")
    custom, default = (invite(manager, **fields).json["invite"]["id"] for fields in (FIXED, {}))
    _set_home_currency(pro)

    for invite_id in (custom, default):
        assert manager.post(f"/api/affiliate-invites/{invite_id}/resend").status_code == 200

    texts = [email.text for email in list_emails(pro)[-2:]]
    assert ["2 USD per click" in texts[0], "1 USD per click" in texts[1]] == [True, True]


def test_model_change_checks_a_custom_fee_in_its_own_currency(pro):
    program_id = pro.program()
    pro.affiliate("ben", custom_commission_type="Fixed", custom_commission_value=1001)
    _set_home_currency(pro, "BWP")
    fee = FEE | {"defaultCommissionModel": "Cpc"}

    refused = pro.call("PATCH", f"{URL}/{program_id}", fee)
    pro.rows("update affiliate set custom_commission_value = 1000 returning id")
    accepted = pro.call("PATCH", f"{URL}/{program_id}", fee)

    assert (refused.status_code, refused.json["error"]) == (400, "unit_fee_out_of_range")
    assert accepted.status_code == 200
