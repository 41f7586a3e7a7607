"""Amounts keep the currency they were set in when the home currency changes, and are told with it."""

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
    """A brand whose keys may change the home currency."""
    return Brand.create(app, plan="Pro")


def _move(brand, code="EUR"):
    assert brand.call("PUT", "/api/v1/settings/home-currency", {"homeCurrency": code}).status_code == 200


def _created(brand, **fields):
    answer = brand.post(URL, fields)
    assert answer.status_code == 201, answer.json
    return {name: value for name, value in answer.json.items() if name != "warnings"}


def _change(brand, program_id, **fields):
    answer = brand.call("PATCH", f"{URL}/{program_id}", fields)
    assert answer.status_code == 200, answer.json
    return {name: value for name, value in answer.json.items() if name != "warnings"}


def _currency(amount):
    return amount.replace("Cents", "Currency")


def test_an_amount_is_in_the_home_currency_and_nothing_is_in_none(pro):
    plain, rich = _created(pro, **SALES), _created(pro, **SALES, **AMOUNTS)

    assert {plain[_currency(amount)] for amount in AMOUNTS} == {None}
    assert {rich[_currency(amount)] for amount in AMOUNTS} == {"USD"}
    assert pro.get(f"{URL}/{rich['id']}").json == rich
    assert pro.get(URL).json["items"] == [rich, plain]


def test_another_home_currency_leaves_every_amount_what_it_was(pro):
    before = _created(pro, **SALES, **AMOUNTS)

    _move(pro)

    assert pro.get(f"{URL}/{before['id']}").json == before
    renamed = _change(pro, before["id"], name="Summer")
    assert renamed == before | {"name": "Summer", "updatedAt": renamed["updatedAt"]}


@pytest.mark.parametrize("amount", list(AMOUNTS))
@pytest.mark.parametrize("is_same", [True, False], ids=["the same number", "another number"])
def test_an_amount_that_is_sent_is_in_the_home_currency_of_now_alone(pro, amount, is_same):
    before = _created(pro, **SALES, **AMOUNTS)
    _move(pro)
    sent = AMOUNTS[amount] if is_same else AMOUNTS[amount] + 10

    after = _change(pro, before["id"], **{amount: sent})

    assert after == before | {amount: sent, _currency(amount): "EUR", "updatedAt": after["updatedAt"]}
    ((was, is_now),) = pro.rows("select before, after from audit_entry where action = 'program.updated'")
    assert (was[_currency(amount)], is_now[_currency(amount)]) == ("USD", "EUR")


@pytest.mark.parametrize("amount", list(AMOUNTS))
def test_a_cleared_amount_has_no_currency(pro, amount):
    program_id = _created(pro, **SALES, **AMOUNTS)["id"]

    assert _change(pro, program_id, **{amount: None})[_currency(amount)] is None


def test_a_program_that_is_made_afterwards_is_in_the_new_currency(pro):
    _move(pro, "JPY")

    made = _created(pro, **SALES, **AMOUNTS)

    assert {made[_currency(amount)] for amount in AMOUNTS} == {"JPY"}


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_a_fee_per_click_or_lead_keeps_its_currency_until_it_is_sent(pro, model):
    program_id = _created(pro, **FEE, defaultCommissionModel=model)["id"]
    _move(pro)

    kept = _change(pro, program_id, name="Summer")["feeCurrency"]
    other = _change(pro, program_id, defaultCommissionModel="Cpl" if model == "Cpc" else "Cpc")["feeCurrency"]
    sent = _change(pro, program_id, defaultCommissionValue=1.5)["feeCurrency"]

    assert (kept, other, sent) == ("USD", "USD", "EUR")


def test_a_fixed_commission_per_sale_is_in_each_sales_currency_and_so_in_none(pro):
    program_id = _created(pro, **FEE)["id"]
    _move(pro)

    fee = _change(pro, program_id, defaultCommissionModel="Cpc")["feeCurrency"]
    sale = _change(pro, program_id, defaultCommissionModel="Cps")["feeCurrency"]

    assert (pro.get(f"{URL}/{program_id}").json["defaultCommissionValue"], fee, sale) == (1.5, "EUR", None)


def test_tiers_keep_their_currency_until_they_are_set_again(pro):
    url = f"{URL}/{pro.program()}/performance-tiers"
    tiers = [{"minRevenueCents": 5, "commissionType": "Percentage", "commissionValue": 10}]
    pro.call("PUT", url, tiers)
    _move(pro)

    kept = pro.get(url).json
    sent = pro.call("PUT", url, kept).json

    assert kept == [tiers[0] | {"currency": "USD"}]
    assert sent == pro.get(url).json == [tiers[0] | {"currency": "EUR"}]


def test_the_least_payout_of_an_organization_keeps_its_currency_until_it_is_sent(pro):
    owner, url = pro.person("Owner"), "/api/organizations/me"

    def least(**changes):
        shown = owner.call("PATCH", url, changes).json
        return shown["minPayoutCents"], shown["minPayoutCurrency"]

    assert least(name="Acme") == (None, None)
    assert least(minPayoutCents=500) == (500, "USD")
    _move(pro)
    assert least(name="Acme & Co") == (500, "USD")
    assert least(minPayoutCents=500) == (500, "EUR")
    assert least(minPayoutCents=None) == (None, None)


def _group_currency(brand):
    ((currency,),) = brand.rows("select commission_currency from partner_group")
    return currency


def test_a_groups_fixed_fee_keeps_its_currency_until_its_rate_is_sent(pro):
    program_id = pro.program(default_commission_model="Cpc", default_commission_type="Fixed")
    groups = f"{URL}/{program_id}/partner-groups"
    made = pro.post(groups, {"name": "Press", "commissionType": "Fixed", "commissionValue": 2}).json
    _move(pro)

    seen = [_group_currency(pro)]
    for changes in ({"name": "Friends"}, {"commissionValue": 2}):
        assert pro.call("PATCH", f"{groups}/{made['id']}", changes).status_code == 200
        seen.append(_group_currency(pro))

    assert seen == ["USD", "USD", "EUR"]


def test_a_groups_percentage_has_no_currency(pro):
    groups = f"{URL}/{pro.program()}/partner-groups"
    made = pro.post(groups, {"name": "Press", "commissionType": "Percentage", "commissionValue": 2}).json

    seen = [_group_currency(pro)]
    for type in ("Fixed", "Percentage"):
        pro.call("PATCH", f"{groups}/{made['id']}", {"commissionType": type})
        seen.append(_group_currency(pro))

    assert seen == [None, "USD", None]


def _own_currency(brand):
    ((currency,),) = brand.rows("select custom_commission_currency from affiliate")
    return currency


def test_an_affiliates_fixed_fee_keeps_its_currency_until_it_is_sent(pro):
    program_id = pro.program(default_commission_model="Cpc", default_commission_type="Fixed")
    made = pro.post("/api/v1/affiliates", {"programId": str(program_id), "email": unique_email(), **FIXED}).json
    _move(pro)

    seen = [_own_currency(pro)]
    nothing = {"customCommissionType": None, "customCommissionValue": None}
    for changes in ({"notes": "x"}, FIXED, nothing):
        assert pro.call("PATCH", f"/api/v1/affiliates/{made['id']}", changes).status_code == 200
        seen.append(_own_currency(pro))

    assert seen == ["USD", "USD", "EUR", None]


def test_an_invited_fee_is_in_the_currency_of_the_day_it_was_offered(pro):
    pro.program(default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=1)
    manager = pro.person("Manager")
    invited = invite(manager, **FIXED)
    _move(pro)

    again = manager.post(f"/api/affiliate-invites/{invited.json['invite']['id']}/resend")
    assert accept_invite(pro, token_from_invite(again)).status_code == 200

    assert _own_currency(pro) == "USD"


def test_an_invite_names_a_fee_in_its_own_currency(pro):
    pro.program(default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=1)
    manager = pro.person("Manager")
    own, default = (invite(manager, **fields).json["invite"]["id"] for fields in (FIXED, {}))
    _move(pro)

    for invite_id in (own, default):
        assert manager.post(f"/api/affiliate-invites/{invite_id}/resend").status_code == 200

    told = [letter.text for letter in list_emails(pro)[-2:]]
    assert ["2 USD per click" in told[0], "1 USD per click" in told[1]] == [True, True]


def test_a_partners_fee_of_a_former_home_currency_is_measured_in_it_when_the_model_changes(pro):
    program_id = pro.program()
    pro.affiliate("ben", custom_commission_type="Fixed", custom_commission_value=1001)
    _move(pro, "BWP")
    fee = FEE | {"defaultCommissionModel": "Cpc"}

    refused = pro.call("PATCH", f"{URL}/{program_id}", fee)
    pro.rows("update affiliate set custom_commission_value = 1000 returning id")
    taken = pro.call("PATCH", f"{URL}/{program_id}", fee)

    assert (refused.status_code, refused.json["error"]) == (400, "unit_fee_out_of_range")
    assert taken.status_code == 200
