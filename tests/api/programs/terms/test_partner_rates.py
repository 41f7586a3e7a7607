"""A program's model and the rates of its own that a partner has, or was promised, go together, through HTTP."""

from decimal import Decimal

import pytest

from adapters import clock
from models import db, ids
from models.programs import partner_groups, performance_tiers
from pipelines.programs import lifecycle, update
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.api.invite_requests import accept_invite, invite, token_from_invite, unique_email
from tests.support.api.terms import change_program

BY_CLICK = {"defaultCommissionModel": "Cpc", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1}


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
            tiers = [performance_tiers.ProgramTier(0, "Percentage", Decimal(30), "USD")]
            performance_tiers.stage_replacement(organization_id=brand.id, program_id=program_id, tiers=tiers)

    answer = change_program(brand, program_id, **BY_CLICK)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert answer.json["field"] == "defaultCommissionModel"
    assert "30 Percentage" in answer.json["message"]


def test_a_rate_of_an_affiliate_who_left_or_of_another_program_is_in_nobodys_way(brand):
    other = brand.program()
    brand.affiliate("zoe", custom_commission_type="Percentage", custom_commission_value=Decimal(30))
    program_id = brand.program()
    gone = brand.rows("select now()")[0][0]
    brand.affiliate("ben", custom_commission_type="Percentage", custom_commission_value=Decimal(30), deleted_at=gone)

    assert change_program(brand, program_id, **BY_CLICK).status_code == 200
    assert change_program(brand, other, **BY_CLICK).status_code == 400


@pytest.mark.parametrize("state", ["Accepted", "Expired", "Revoked"])
def test_the_rate_of_an_invite_that_nobody_can_accept_is_in_nobodys_way(brand, state):
    program_id = brand.program()
    invited = _invite(brand)
    if state == "Accepted":
        accept_invite(brand, token_from_invite(invited))
        brand.rows("update affiliate set deleted_at = now() returning id")
    elif state == "Revoked":
        brand.person("Manager").call("DELETE", f"/api/affiliate-invites/{invited.json['invite']['id']}")
    else:
        brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")

    assert change_program(brand, program_id, **BY_CLICK).status_code == 200


def test_an_expired_invite_does_not_come_back_with_a_rate_that_the_program_cannot_have(brand):
    program_id = brand.program()
    invite_id = _invite(brand).json["invite"]["id"]
    brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")
    change_program(brand, program_id, **BY_CLICK)

    answer = brand.person("Manager").post(f"/api/affiliate-invites/{invite_id}/resend")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select state from affiliate_invite") == [("Expired",)]


RATE = {"customCommissionType": "Percentage", "customCommissionValue": 30}


def _invite(brand):
    answer = invite(brand.person("Manager"), programId=str(brand.programs[-1]), **RATE)
    assert answer.status_code == 201, answer.json
    return answer


def _join(brand):
    body = {"programId": str(brand.programs[-1]), "email": unique_email(), **RATE}
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
        program = lifecycle.lock(organization_id=brand.id, program_id=program_id)
        answer = start_call(lambda: ask(brand))
        update.change(program=program, fields=changes, now=clock.now())

    assert (answer().status_code, answer().json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select id from affiliate union all select id from affiliate_invite") == []


@pytest.mark.parametrize("ask", [_join, _ask], ids=["an affiliate", "an invite"])
def test_a_rate_and_a_model_that_do_not_go_together_never_both_hold(brand, ask):
    for _ in range(5):
        program_id = brand.program()

        answers = run_concurrently(
            lambda: ask(brand), lambda program_id=program_id: change_program(brand, program_id, **BY_CLICK)
        )

        assert sorted(answer.status_code for answer in answers) in ([200, 400], [201, 400])
