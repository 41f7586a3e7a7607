"""Which terms a program may change to, through HTTP: what is sent is judged together with what stays."""

from decimal import Decimal

import pytest

from adapters import clock
from models import db, ids
from models.programs import partner_groups, performance_tiers
from pipelines.programs import changes as program_changes
from pipelines.programs import programs as program_rules
from tests.support.api.inviting import accept, invite, someone, token_of
from tests.support.api.racing import at_once, begun

URL = "/api/v1/programs"
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
BY_CLICK = {"defaultCommissionModel": "Cpc", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1}
LEGS = ("leadBountyCents", "clickRewardCents", "saleCommissionType", "saleCommissionValue")


def _created(brand, body=SALES, **fields):
    answer = brand.post(URL, body | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def _legs(shown):
    return tuple(shown[leg] for leg in LEGS)


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
def test_what_a_program_cannot_become_is_refused_by_its_code(brand, base, fields, code):
    before = _created(brand, base)

    answer = _change(brand, before["id"], **fields)

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert answer.json["field"]
    assert brand.get(f"{URL}/{before['id']}").json == before


def test_half_a_sale_leg_is_refused_where_there_is_none(brand):
    bare = {name: value for name, value in CLICKS.items() if not name.startswith("sale")}
    program_id = _created(brand, bare)["id"]

    for fields in ({"saleCommissionType": "Fixed"}, {"saleCommissionValue": 5}):
        answer = _change(brand, program_id, **fields)

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
def test_the_sale_leg_is_cleared_as_a_pair(brand, base, fields):
    before = _created(brand, base)

    after = _change(brand, before["id"], **fields).json

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
def test_a_leg_that_the_primary_pays_already_is_dropped(brand, base, fields, legs):
    program_id = _created(brand, base)["id"]

    answer = _change(brand, program_id, **fields)

    assert answer.status_code == 200
    assert _legs(answer.json) == legs


def test_a_change_of_type_alone_keeps_the_value_and_is_judged_with_it(brand):
    program_id = _created(brand, defaultCommissionType="Fixed", defaultCommissionValue=150)["id"]

    refused = _change(brand, program_id, defaultCommissionType="Percentage")
    taken = _change(brand, program_id, defaultCommissionType="Percentage", defaultCommissionValue=15)

    assert (refused.status_code, refused.json["error"]) == (400, "percentage_out_of_range")
    assert (taken.json["defaultCommissionType"], taken.json["defaultCommissionValue"]) == ("Percentage", 15)


def test_two_changes_at_once_that_do_not_go_together_do_not_both_hold(brand):
    for _ in range(5):
        program_id = _created(brand, defaultCommissionType="Fixed", defaultCommissionValue=1)["id"]
        changes = [{"defaultCommissionModel": "Cpc"}, {"defaultCommissionType": "Percentage"}]

        answers = at_once(*[lambda one=one, each=program_id: _change(brand, each, **one) for one in changes])

        assert sorted(answer.status_code for answer in answers) == [200, 400]


@pytest.mark.parametrize("model", ["Cpa", "RevShare", "Hybrid"])
def test_a_legacy_model_stays_with_the_program_that_has_it(brand, model):
    program_id = brand.program(default_commission_model=model)

    kept = _change(brand, program_id, defaultCommissionModel=model, name="Legacy")
    other = _change(brand, program_id, defaultCommissionModel="Hybrid" if model == "Cpa" else "Cpa")
    modern = _change(brand, program_id, defaultCommissionModel="Cps")
    back = _change(brand, program_id, defaultCommissionModel=model)

    assert (kept.status_code, kept.json["defaultCommissionModel"], kept.json["name"]) == (200, model, "Legacy")
    assert (modern.status_code, modern.json["defaultCommissionModel"]) == (200, "Cps")
    for refused in (other, back):
        assert (refused.status_code, refused.json["error"]) == (400, "invalid_commission_model")
        assert refused.json["field"] == "defaultCommissionModel"


CLOSED = (False, "InviteOnly", False)


def _standing(shown):
    return (shown["autoApprove"], shown["networkVisibility"], shown["isPubliclyDiscoverable"])


def test_turning_a_click_reward_on_makes_the_program_invite_only(brand):
    program_id = _created(brand, autoApprove=True)["id"]

    shown = _change(brand, program_id, clickRewardCents=5).json

    assert (shown["clickRewardCents"], *_standing(shown)) == (5, *CLOSED)


def test_a_program_stays_invite_only_while_its_click_reward_is_on(brand):
    program_id = _created(brand, clickRewardCents=5)["id"]
    opened = {"autoApprove": True, "networkVisibility": "Networked", "isPubliclyDiscoverable": True}

    forced = _change(brand, program_id, **opened)
    _change(brand, program_id, clickRewardCents=0)
    free = _change(brand, program_id, autoApprove=True, isPubliclyDiscoverable=True)

    assert (forced.status_code, *_standing(forced.json)) == (200, *CLOSED)
    assert _standing(free.json) == (True, "InviteOnly", True)


def test_a_click_reward_that_a_click_program_drops_closes_nothing(brand):
    program_id = _created(brand, CLICKS, autoApprove=True)["id"]

    assert _standing(_change(brand, program_id, clickRewardCents=5).json) == (True, "Private", True)


def test_listing_in_the_network_is_saved_as_private(brand):
    program_id = _created(brand, networkVisibility="InviteOnly")["id"]

    answer = _change(brand, program_id, networkVisibility="Networked")

    assert (answer.status_code, answer.json["networkVisibility"]) == (200, "Private")


def test_a_program_that_is_listed_already_stays_so(brand):
    program_id = brand.program(network_visibility="Networked")

    kept = _change(brand, program_id, networkVisibility="Networked", name="Listed").json
    left = _change(brand, program_id, networkVisibility="Private").json

    assert (kept["networkVisibility"], left["networkVisibility"]) == ("Networked", "Private")


def _rate(currency, per_usd, day):
    with db.any_org_work():
        db.db.run("insert into fx_rate values (%s, %s, %s) on conflict do nothing", (currency, day, per_usd))


def test_a_term_that_stays_is_not_measured_with_a_rate_that_moved(brand):
    brand.set(currency="MKD")
    _rate("MKD", 1, "2026-01-01")
    highest = {"budgetCents": 10**10, "leadBountyCents": 100_000, "clickRewardCents": 100_000}
    program_id = _created(brand, defaultCommissionType="Fixed", defaultCommissionValue=10**6, **highest)["id"]
    _rate("MKD", Decimal("0.5"), "2026-01-02")

    renamed = _change(brand, program_id, name="Summer", defaultCommissionValue=10**6, **highest)
    lowered = _change(brand, program_id, budgetCents=5 * 10**9)

    assert (renamed.status_code, renamed.json["name"]) == (200, "Summer")
    assert lowered.status_code == 200
    for fields, code in [
        ({"budgetCents": 5 * 10**9 + 1}, "budget_out_of_range"),
        ({"defaultCommissionValue": 500_000.01}, "fixed_commission_out_of_range"),
        ({"leadBountyCents": 50_001}, "lead_bounty_out_of_range"),
        ({"clickRewardCents": 50_001}, "click_reward_out_of_range"),
    ]:
        refused = _change(brand, program_id, **fields)
        assert (refused.status_code, refused.json["error"], refused.json["homeCurrency"]) == (400, code, "MKD")


def test_another_model_measures_every_term_again(brand):
    brand.set(currency="MDL")
    _rate("MDL", 1, "2026-01-01")
    base = CLICKS | {"leadBountyCents": None, "defaultCommissionValue": 400, "budgetCents": 10**10}
    program_id = _created(brand, base)["id"]
    _rate("MDL", Decimal("0.5"), "2026-01-02")

    refused = _change(brand, program_id, defaultCommissionModel="Cpl")
    taken = _change(brand, program_id, defaultCommissionModel="Cpl", budgetCents=5 * 10**9)

    assert (refused.status_code, refused.json["error"]) == (400, "budget_out_of_range")
    assert taken.status_code == 200


@pytest.mark.parametrize("whose", ["an affiliate's", "an invite's", "a group's", "a tier's"])
def test_a_model_that_a_partners_rate_does_not_fit_is_refused(brand, whose):
    program_id = brand.program()
    if whose == "an affiliate's":
        brand.affiliate("ben", custom_commission_type="Percentage", custom_commission_value=Decimal(30))
    if whose == "an invite's":
        _invite(brand)
    with db.unit_of_work(brand.id):
        if whose == "a group's":
            group = {"id": ids.new_id(), "organization_id": brand.id, "program_id": program_id, "name": "Friends"}
            partner_groups.insert(group | {"commission_type": "Percentage", "commission_value": Decimal(30)})
        if whose == "a tier's":
            tiers = [performance_tiers.Tier(0, "Percentage", Decimal(30), "USD")]
            performance_tiers.stage_replacement(organization_id=brand.id, program_id=program_id, tiers=tiers)

    answer = _change(brand, program_id, **BY_CLICK)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert answer.json["field"] == "defaultCommissionModel"
    assert "30 Percentage" in answer.json["message"]


def test_a_rate_of_an_affiliate_who_left_or_of_another_program_is_in_nobodys_way(brand):
    other = brand.program()
    brand.affiliate("zoe", custom_commission_type="Percentage", custom_commission_value=Decimal(30))
    program_id = brand.program()
    gone = brand.rows("select now()")[0][0]
    brand.affiliate("ben", custom_commission_type="Percentage", custom_commission_value=Decimal(30), deleted_at=gone)

    assert _change(brand, program_id, **BY_CLICK).status_code == 200
    assert _change(brand, other, **BY_CLICK).status_code == 400


@pytest.mark.parametrize("state", ["Accepted", "Expired", "Revoked"])
def test_the_rate_of_an_invite_that_nobody_can_accept_is_in_nobodys_way(brand, state):
    program_id = brand.program()
    invited = _invite(brand)
    if state == "Accepted":
        accept(brand, token_of(invited))
        brand.rows("update affiliate set deleted_at = now() returning id")
    elif state == "Revoked":
        brand.person("Manager").call("DELETE", f"/api/affiliate-invites/{invited.json['invite']['id']}")
    else:
        brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")

    assert _change(brand, program_id, **BY_CLICK).status_code == 200


def test_an_expired_invite_does_not_come_back_with_a_rate_that_the_program_cannot_have(brand):
    program_id = brand.program()
    invite_id = _invite(brand).json["invite"]["id"]
    brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")
    _change(brand, program_id, **BY_CLICK)

    answer = brand.person("Manager").post(f"/api/affiliate-invites/{invite_id}/resend")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select state from affiliate_invite") == [("Expired",)]


RATE = {"customCommissionType": "Percentage", "customCommissionValue": 30}


def _invite(brand):
    answer = invite(brand.person("Manager"), programId=str(brand.programs[-1]), **RATE)
    assert answer.status_code == 201, answer.json
    return answer


def _join(brand):
    body = {"programId": str(brand.programs[-1]), "email": someone(), **RATE}
    return brand.post("/api/v1/affiliates", body)


def _ask(brand):
    return invite(brand.person("Manager"), programId=str(brand.programs[-1]), **RATE)


@pytest.mark.parametrize("ask", [_join, _ask], ids=["an affiliate", "an invite"])
def test_a_rate_waits_for_a_change_of_the_model_that_is_under_way(brand, ask):
    program_id = brand.program()
    changes = {
        "default_commission_model": "Cpc",
        "default_commission_type": "Fixed",
        "default_commission_value": Decimal(1),
    }

    with db.unit_of_work(brand.id):
        program = program_rules.lock(organization_id=brand.id, program_id=program_id)
        answer = begun(lambda: ask(brand))
        program_changes.change(program=program, sent=changes, now=clock.now())

    assert (answer().status_code, answer().json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select id from affiliate union all select id from affiliate_invite") == []


@pytest.mark.parametrize("ask", [_join, _ask], ids=["an affiliate", "an invite"])
def test_a_rate_and_a_model_that_do_not_go_together_never_both_hold(brand, ask):
    for _ in range(5):
        program_id = brand.program()

        answers = at_once(lambda: ask(brand), lambda program_id=program_id: _change(brand, program_id, **BY_CLICK))

        assert sorted(answer.status_code for answer in answers) in ([200, 400], [201, 400])
