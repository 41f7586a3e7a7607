"""A program's model must fit the custom rates its partners have or were promised, through HTTP."""

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


@pytest.mark.parametrize("owner", ["an affiliate's", "an invite's", "a group's", "a tier's"])
def test_model_not_fitting_a_custom_rate_is_refused(brand, owner):
    program_id = brand.program()
    if owner == "an affiliate's":
        brand.affiliate("ben", custom_commission_type="Percentage", custom_commission_value=Decimal(30))
    if owner == "an invite's":
        _send_invite(brand)
    with db.unit_of_work(brand.id):
        if owner == "a group's":
            group = {"id": ids.new_id(), "organization_id": brand.id, "program_id": program_id, "name": "Friends"}
            partner_groups.insert(group | {"commission_type": "Percentage", "commission_value": Decimal(30)})
        if owner == "a tier's":
            tiers = [performance_tiers.ProgramTier(0, "Percentage", Decimal(30), "USD")]
            performance_tiers.stage_replacement(organization_id=brand.id, program_id=program_id, tiers=tiers)

    answer = change_program(brand, program_id, **BY_CLICK)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert answer.json["field"] == "defaultCommissionModel"
    assert "30 Percentage" in answer.json["message"]


def test_rate_of_a_deleted_affiliate_or_another_program_is_ignored(brand):
    other = brand.program()
    brand.affiliate("zoe", custom_commission_type="Percentage", custom_commission_value=Decimal(30))
    program_id = brand.program()
    deleted_at = brand.rows("select now()")[0][0]
    brand.affiliate(
        "ben", custom_commission_type="Percentage", custom_commission_value=Decimal(30), deleted_at=deleted_at
    )

    assert change_program(brand, program_id, **BY_CLICK).status_code == 200
    assert change_program(brand, other, **BY_CLICK).status_code == 400


@pytest.mark.parametrize("state", ["Accepted", "Expired", "Revoked"])
def test_rate_of_a_closed_invite_is_ignored(brand, state):
    program_id = brand.program()
    invite_answer = _send_invite(brand)
    if state == "Accepted":
        accept_invite(brand, token_from_invite(invite_answer))
        brand.rows("update affiliate set deleted_at = now() returning id")
    elif state == "Revoked":
        brand.person("Manager").call("DELETE", f"/api/affiliate-invites/{invite_answer.json['invite']['id']}")
    else:
        brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")

    assert change_program(brand, program_id, **BY_CLICK).status_code == 200


def test_expired_invite_with_an_unfit_rate_cannot_be_resent(brand):
    program_id = brand.program()
    invite_id = _send_invite(brand).json["invite"]["id"]
    brand.rows("update affiliate_invite set state = 'Expired', expires_at = now() returning id")
    change_program(brand, program_id, **BY_CLICK)

    answer = brand.person("Manager").post(f"/api/affiliate-invites/{invite_id}/resend")

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select state from affiliate_invite") == [("Expired",)]


RATE = {"customCommissionType": "Percentage", "customCommissionValue": 30}


def _send_invite(brand):
    answer = invite(brand.person("Manager"), programId=str(brand.programs[-1]), **RATE)
    assert answer.status_code == 201, answer.json
    return answer


def _request_affiliate(brand):
    body = {"programId": str(brand.programs[-1]), "email": unique_email(), **RATE}
    return brand.post("/api/v1/affiliates", body)


def _request_invite(brand):
    return invite(brand.person("Manager"), programId=str(brand.programs[-1]), **RATE)


@pytest.mark.parametrize("request_rate", [_request_affiliate, _request_invite], ids=["an affiliate", "an invite"])
def test_new_rate_waits_for_a_concurrent_model_change(brand, request_rate):
    program_id = brand.program()
    changes = {
        "default_commission_model": "Cpc",
        "default_commission_type": "Fixed",
        "default_commission_value": Decimal(1),
    }

    with db.unit_of_work(brand.id):
        program = lifecycle.lock(organization_id=brand.id, program_id=program_id)
        wait_for_answer = start_call(lambda: request_rate(brand))
        update.change(program=program, fields=changes, now=clock.now())

    assert (wait_for_answer().status_code, wait_for_answer().json["error"]) == (400, "invalid_commission_type")
    assert brand.rows("select id from affiliate union all select id from affiliate_invite") == []


@pytest.mark.parametrize("request_rate", [_request_affiliate, _request_invite], ids=["an affiliate", "an invite"])
def test_concurrent_rate_and_unfit_model_never_both_apply(brand, request_rate):
    for _ in range(5):
        program_id = brand.program()

        answers = run_concurrently(
            lambda: request_rate(brand), lambda program_id=program_id: change_program(brand, program_id, **BY_CLICK)
        )

        assert sorted(answer.status_code for answer in answers) in ([200, 400], [201, 400])
