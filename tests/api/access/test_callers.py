"""Authentication and roles of keys, dashboard members and affiliates. Source: core spec, section 5."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from adapters.identity import tokens
from domain.organization.access import Role
from models import db
from pipelines.organization import sign_in
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.brands import Brand, Partner

PROGRAM = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
CONFIG = {"enabled": True, "percent": 10}


@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager", "Viewer"])
def test_every_role_can_read(brand, role):
    assert brand.person(role).get("/api/v1/programs").status_code == 200


@pytest.mark.parametrize("role", ["Owner", "Admin", "Manager"])
def test_manager_and_above_can_write(brand, role):
    assert brand.person(role).post("/api/v1/programs", PROGRAM).status_code == 201


def test_viewer_write_returns_403(brand):
    answer = brand.person("Viewer").post("/api/v1/programs", PROGRAM)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "Manager" in answer.json["message"]


def test_write_with_read_key_names_missing_scope(brand):
    answer = brand.other_key(scope="read").post("/api/v1/programs", PROGRAM)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


def test_plan_gates_apply_to_keys_but_not_to_members(brand):
    brand.set(plan="Free")

    assert brand.person("Manager").post("/api/v1/programs", PROGRAM).status_code == 201
    refused = brand.post("/api/v1/programs", PROGRAM)
    assert refused.status_code == 402
    assert set(refused.json) == {"error", "message", "required", "current", "trialing", "doc_url"}


def test_owner_only_route_returns_empty_403_to_admin(brand):
    path = f"/api/v1/programs/{brand.program()}/sub-affiliate-config"

    answer = brand.person("Admin").call("PUT", path, CONFIG)

    assert (answer.status_code, answer.data) == (403, b"")


def test_owner_without_verified_email_gets_email_verification_required(brand):
    path = f"/api/v1/programs/{brand.program()}/sub-affiliate-config"

    answer = brand.person("Owner", is_email_verified=False).call("PUT", path, CONFIG)

    assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")


def test_token_shows_only_its_own_organization(brand, rival):
    program_id = brand.program()

    assert rival.person().get(f"/api/v1/programs/{program_id}").status_code == 404
    assert rival.person().get("/api/v1/programs").json["items"] == []


def test_token_of_unknown_organization_returns_401(brand):
    token = tokens.issue_dashboard(
        organization_id=uuid4(), role="Owner", email="a@example.com", is_email_verified=True, ttl_s=60
    )

    answer = Brand(brand.app, brand.id, token, "").get("/api/v1/programs")

    assert (answer.status_code, answer.data) == (401, b"")


def test_affiliate_token_returns_401_on_brand_routes(app, brand):
    answer = Partner(app, "ben@example.com").get("/api/v1/programs")

    assert (answer.status_code, answer.data) == (401, b"")


def test_member_cannot_sign_sales(brand):
    brand.program()
    brand.affiliate("ben")

    assert brand.person().sale().status_code == 401


def test_member_is_created_at_first_sign_in_and_reused_at_the_next(brand):
    for _ in range(2):
        brand.person("Manager", email="mia@example.com").get("/api/v1/programs")

    assert brand.rows("select role from member where email = 'mia@example.com'") == [("Manager",)]


def test_operator_created_owner_is_claimed_by_verified_email(brand):
    brand.person("Owner", email="owner@example.com").get("/api/v1/programs")

    assert brand.rows("select subject is not null from member where email = 'owner@example.com'") == [(True,)]


@pytest.mark.parametrize("email", ["owner@example.com", "new@example.com"])
def test_ten_concurrent_first_requests_create_one_member(brand, email):
    people = [brand.person("Owner", email=email) for _ in range(10)]

    answers = run_concurrently(*[lambda person=person: person.get("/api/v1/programs") for person in people])

    assert [answer.status_code for answer in answers] == [200] * 10
    assert brand.rows("select subject from member where email = %s", email) == [(f"local:{email}",)]


def _sign_member_in(brand, subject, email, *, is_email_verified=True):
    with db.unit_of_work(brand.id):
        return sign_in.sign_member_in(
            organization_id=brand.id,
            subject=subject,
            email=email,
            is_email_verified=is_email_verified,
            role=Role.Viewer,
            now=datetime.now(UTC),
        ).id


@pytest.mark.parametrize("email", ["owner@example.com", "new@example.com", ""])
def test_two_subjects_with_the_same_email_are_two_members(brand, email):
    first, second = (
        _sign_member_in(brand, subject, email, is_email_verified=bool(email)) for subject in ("one", "two")
    )

    assert first != second
    assert _sign_member_in(brand, "one", email) == first
    assert sorted(brand.rows("select subject from member where email = %s", email)) == [("one",), ("two",)]


def _sign_affiliate_in(subject, email):
    with db.any_org_work():
        return sign_in.any_org_sign_affiliate_in(
            subject=subject, email=email, is_email_verified=True, now=datetime.now(UTC)
        ).id


def test_new_holder_of_an_email_does_not_get_former_holders_affiliates(brand):
    email, former, later = f"{uuid4().hex}@example.com", uuid4().hex, uuid4().hex
    first_program = brand.program()
    brand.affiliate("ben", email=email)
    former_id = _sign_affiliate_in(former, email)
    brand.program()
    brand.affiliate("ben", email=email)
    later_id = _sign_affiliate_in(later, email)

    owners = brand.rows("select account_id, program_id = %s from affiliate", first_program)

    assert former_id != later_id
    assert sorted(owners, key=str) == sorted([(former_id, True), (later_id, False)], key=str)


def test_affiliate_keeps_affiliations_after_email_change(brand):
    old, new, subject = f"{uuid4().hex}@example.com", f"{uuid4().hex}@example.com", uuid4().hex
    brand.program()
    brand.affiliate("old", email=old)
    brand.affiliate("new", email=new)

    accounts = {_sign_affiliate_in(subject, old), _sign_affiliate_in(subject, new)}

    assert brand.rows("select distinct account_id from affiliate") == [(account,) for account in accounts]


def test_unverified_email_claims_no_member(brand):
    brand.person("Owner", email="owner@example.com", is_email_verified=False).get("/api/v1/programs")

    assert brand.rows("select count(*) from member where email = 'owner@example.com' and subject is null") == [(1,)]


def test_role_change_applies_immediately_and_is_stored(brand):
    brand.person("Manager", email="mia@example.com").get("/api/v1/programs")

    answer = brand.person("Viewer", email="mia@example.com").post("/api/v1/programs", PROGRAM)

    assert answer.status_code == 403
    assert brand.rows("select role from member where email = 'mia@example.com'") == [("Viewer",)]


def test_member_action_is_audited_under_member_email(brand):
    brand.person("Manager", email="mia@example.com").post("/api/v1/programs", PROGRAM)

    rows = brand.rows("select action, actor_type, actor_label from audit_entry where action = 'program.created'")

    assert rows == [("program.created", "member", "mia@example.com")]


def test_idempotency_keys_are_separate_per_member(brand):
    first = brand.person("Manager", email="mia@example.com").post("/api/v1/programs", PROGRAM, Idempotency_Key="k")
    again = brand.person("Manager", email="mia@example.com").post("/api/v1/programs", PROGRAM, Idempotency_Key="k")
    other = brand.person("Admin", email="max@example.com").post("/api/v1/programs", PROGRAM, Idempotency_Key="k")

    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json["id"] == first.json["id"] != other.json["id"]


@pytest.mark.parametrize("field", ["role", "organizationId", "organization_id", "plan", "id", "isTest"])
def test_body_cannot_set_protected_fields(brand, rival, field):
    body = PROGRAM | {field: str(rival.id)}

    answer = brand.post("/api/v1/programs", body)

    assert answer.status_code == 201
    assert rival.rows("select count(*) from program") == [(0,)]
