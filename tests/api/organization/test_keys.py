"""API keys, as people at the dashboard manage them. Source: core spec, section 5 (keys, scopes, the shared bucket)."""

from dataclasses import replace
from uuid import uuid4

import pytest

from adapters import clock
from api.access import callers
from domain.refusals import Refused
from models import db
from pipelines.organization import key_creation
from tests.support.api.concurrency import run_concurrently
from tests.support.settings_overrides import override_settings

URL = "/api/v1/api-keys"


def _create(person, **fields):
    headers = {name: fields.pop(name) for name in list(fields) if name == "Idempotency_Key"}
    return person.post(URL, fields, **headers)


def _works(brand, api_key, path="/api/organizations/me"):
    return replace(brand, api_key=api_key).get(path).status_code == 200


def _audited(brand):
    return brand.rows(
        "select action, entity_id, after from audit_entry where entity_type = 'api_key' order by created_at"
    )


def test_a_new_key_is_shown_once_with_its_secrets_and_works(brand, admin):
    answer = _create(admin, name="Shop – 日本", scope="read_write")
    made = answer.json

    assert answer.status_code == 201
    assert made["apiKey"].startswith("ff_live_")
    assert made["signingSecret"].startswith("ffsec_")
    assert {name: made[name] for name in ("name", "scope", "isTest", "lastFour", "createdByEmail", "revokedAt")} == {
        "name": "Shop – 日本",
        "scope": "read_write",
        "isTest": False,
        "lastFour": made["apiKey"][-4:],
        "createdByEmail": "admin@example.com",
        "revokedAt": None,
    }
    assert _works(brand, made["apiKey"])


def test_a_key_signs_with_its_secret(brand, admin):
    brand.program()
    brand.affiliate("ben")
    made = _create(admin, scope="read_write").json

    answer = replace(brand, api_key=made["apiKey"], signing_secret=made["signingSecret"]).sale()

    assert answer.status_code == 200


def test_without_a_word_a_key_reads_live_data(brand, admin):
    made = admin.call("POST", URL).json

    assert (made["name"], made["scope"], made["isTest"]) == ("", "read", False)
    assert (
        replace(brand, api_key=made["apiKey"]).call("PATCH", "/api/v1/settings/attribution-params", {}).status_code
        == 403
    )


def test_a_test_key_says_so(admin):
    made = _create(admin, isTest=True).json

    assert made["isTest"] is True
    assert made["apiKey"].startswith("ff_test_")


def test_keys_are_listed_without_secrets_those_in_force_first(brand, admin):
    first = _create(admin, name="first").json
    second = _create(admin, name="second").json
    admin.call("DELETE", f"{URL}/{second['id']}")

    answer = admin.get(URL)

    assert [key["name"] for key in answer.json] == ["first", "", "second"]
    assert answer.json[0] == {name: first[name] for name in first if name not in ("apiKey", "signingSecret")}
    assert answer.json[2]["revokedAt"].endswith("Z")
    for secret in (first["apiKey"], first["signingSecret"], second["apiKey"], brand.api_key, "ff_live_"):
        assert secret not in answer.get_data(as_text=True)


def test_tenants_do_not_see_each_others(admin, rival):
    made = _create(admin).json

    assert made["id"] not in [key["id"] for key in rival.person("Owner").get(URL).json]


def test_a_rotated_key_is_replaced_by_one_like_it(brand, admin):
    old = _create(admin, name="shop", scope="read_write", isTest=True).json

    answer = brand.person("Owner").post(f"{URL}/{old['id']}/rotate")
    new = answer.json

    assert answer.status_code == 200
    assert (new["name"], new["scope"], new["isTest"]) == ("shop", "read_write", True)
    assert new["createdByEmail"] == "owner@example.com"
    assert new["id"] != old["id"]
    assert new["signingSecret"] != old["signingSecret"]
    assert not _works(brand, old["apiKey"])
    assert _works(brand, new["apiKey"])


def test_of_two_who_rotate_at_once_one_gets_the_new_key(admin):
    old = _create(admin).json
    rotate = f"{URL}/{old['id']}/rotate"

    answers = run_concurrently(lambda: admin.post(rotate), lambda: admin.post(rotate))

    assert sorted(answer.status_code for answer in answers) == [200, 404]
    assert sum(key["revokedAt"] is None for key in admin.get(URL).json) == 2


def test_a_revoked_key_is_no_key_and_cannot_be_revoked_or_rotated(brand, admin):
    made = _create(admin).json

    gone = admin.call("DELETE", f"{URL}/{made['id']}")
    again = admin.call("DELETE", f"{URL}/{made['id']}")
    rotated = admin.post(f"{URL}/{made['id']}/rotate")

    assert (gone.status_code, gone.data) == (204, b"")
    assert not _works(brand, made["apiKey"])
    for answer in (again, rotated):
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("end", ["revoke", "rotate"])
def test_this_process_forgets_a_key_at_once(brand, admin, monkeypatch, end):
    override_settings(monkeypatch, web={"key_cache_s": 600})
    callers.clear_cache()
    made = _create(admin).json
    assert _works(brand, made["apiKey"])

    if end == "revoke":
        admin.call("DELETE", f"{URL}/{made['id']}")
    else:
        admin.post(f"{URL}/{made['id']}/rotate")

    assert not _works(brand, made["apiKey"])


def test_everything_is_audited_without_secrets(brand, admin):
    made = _create(admin, name="shop").json
    rotated = admin.post(f"{URL}/{made['id']}/rotate").json
    admin.call("DELETE", f"{URL}/{rotated['id']}")

    rows = _audited(brand)
    assert [(action, entity_id) for action, entity_id, _ in rows] == [
        ("api_key.created", made["id"]),
        ("api_key.rotated", made["id"]),
        ("api_key.revoked", rotated["id"]),
    ]
    assert rows[1][2]["id"] == rotated["id"]
    for key in (made, rotated):
        for secret in (key["apiKey"], key["signingSecret"]):
            assert secret not in str(brand.rows("select * from audit_entry"))
            assert secret not in str(brand.rows("select * from api_key"))


def test_an_integration_that_reads_the_audit_log_is_not_told_whose_keys_they_are(brand, admin):
    brand.set(plan="Pro")
    made = _create(admin).json
    rotated = admin.post(f"{URL}/{made['id']}/rotate").json
    admin.call("DELETE", f"{URL}/{rotated['id']}")

    log = brand.get("/api/v1/audit-log")

    assert log.json["total"] == 3
    for who in (made["createdBy"], "admin@example.com"):
        assert who not in log.get_data(as_text=True)


def test_a_repeated_request_shows_the_same_secrets(brand, admin):
    first = _create(admin, name="shop", Idempotency_Key="k1")
    again = _create(admin, name="shop", Idempotency_Key="k1")
    other = _create(admin, name="other", Idempotency_Key="k1")

    assert (again.status_code, again.headers["Idempotency-Replayed"], again.json) == (201, "true", first.json)
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert len(admin.get(URL).json) == 2
    assert first.json["apiKey"] not in str(brand.rows("select * from stored_answer"))


def test_a_repeated_rotation_shows_the_same_secrets(admin):
    made = _create(admin).json
    answers = [admin.post(f"{URL}/{made['id']}/rotate", Idempotency_Key="k1") for _ in range(2)]

    assert answers[0].status_code == 200
    assert answers[0].json == answers[1].json


def _fill(brand, count):
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into api_key (id, organization_id, member_id, name, scope, is_test, last_four, key_hash,"
            " signing_secret_sealed) select gen_random_uuid(), organization_id, id, '', 'read', false, 'abcd',"
            " decode(md5(id::text || n::text), 'hex'), '' from member, generate_series(1, %s) n where role = 'Owner'"
            " returning id",
            (count,),
        )


def test_an_organization_has_at_most_100_in_force(brand, admin):
    _fill(brand, 98)  # and the brand's own

    made = _create(admin)
    refused = _create(admin)
    rotated = admin.post(f"{URL}/{made.json['id']}/rotate")
    admin.call("DELETE", f"{URL}/{rotated.json['id']}")
    after = _create(admin)

    assert (refused.status_code, refused.json["error"]) == (409, "api_key_limit_reached")
    assert (made.status_code, rotated.status_code, after.status_code) == (201, 200, 201)


def test_of_two_who_want_the_last_key_one_gets_it(brand, admin):
    _fill(brand, 98)

    answers = run_concurrently(lambda: _create(admin), lambda: _create(admin))

    assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_the_operators_command_keeps_to_the_same_limit(brand):
    _fill(brand, 99)

    with pytest.raises(Refused, match="api_key_limit_reached"), db.any_org_work():
        key_creation.create(
            organization_id=brand.id, scope="read", is_test=False, name="", user_email=None, now=clock.now()
        )


@pytest.mark.parametrize(
    "body",
    [
        {"name": 5},
        {"name": None},
        {"name": "x" * 101},
        {"name": "nul\x00"},
        {"scope": "all"},
        {"scope": None},
        {"scope": ["read"]},
        {"isTest": "true"},
        {"isTest": 1},
        [],
        b"no",
    ],
)
def test_a_malformed_body_is_told_in_problem_details(admin, body):
    answer = admin.post(URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_who_and_whose_it_is_cannot_be_sent(brand, admin, rival):
    made = _create(admin, organizationId=str(rival.id), memberId=str(uuid4()), id=str(uuid4()), apiKey="mine").json

    assert made["createdByEmail"] == "admin@example.com"
    assert made["apiKey"] != "mine"
    assert made["id"] in [key["id"] for key in admin.get(URL).json]


def test_another_tenants_key_is_not_there(brand, admin, rival):
    theirs = rival.person("Owner").get(URL).json[0]["id"]

    for wanted in (theirs, uuid4(), "x", "x" * 200):
        for answer in (admin.call("DELETE", f"{URL}/{wanted}"), admin.post(f"{URL}/{wanted}/rotate")):
            assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert _works(rival, rival.api_key)


@pytest.mark.parametrize("role", ["Manager", "Viewer"])
def test_a_lower_role_neither_sees_nor_makes_keys(brand, role):
    person = brand.person(role)
    path = f"{URL}/{uuid4()}"

    for answer in (person.get(URL), person.post(URL, {}), person.call("DELETE", path), person.post(f"{path}/rotate")):
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_a_key_makes_no_keys(brand, scope):
    key = brand.other_key(scope=scope)

    for answer in (key.get(URL), key.post(URL, {}), key.call("DELETE", f"{URL}/{uuid4()}")):
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_when_a_key_was_last_used_is_known_to_the_hour(brand, admin):
    made = _create(admin, name="Shop").json
    (shown,) = [key for key in admin.get(URL).json if key["id"] == made["id"]]
    assert shown["lastUsedAt"] is None

    _works(brand, made["apiKey"])
    (first,) = [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == made["id"]]
    assert first is not None
    callers.clear_cache()
    _works(brand, made["apiKey"])
    assert [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == made["id"]] == [first]

    brand.rows("update api_key set last_used_at = now() - interval '61 minutes' where id = %s returning 1", made["id"])
    callers.clear_cache()
    _works(brand, made["apiKey"])
    (again,) = [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == made["id"]]
    assert again >= first
