"""Management of API keys by dashboard users. Source: core spec, section 5 (keys, scopes, the shared bucket)."""

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


def _is_accepted(brand, api_key, path="/api/organizations/me"):
    return replace(brand, api_key=api_key).get(path).status_code == 200


def _list_audit_entries(brand):
    return brand.rows(
        "select action, entity_id, after from audit_entry where entity_type = 'api_key' order by created_at"
    )


def test_new_key_is_shown_once_with_its_secrets(brand, admin):
    answer = _create(admin, name="Shop – 日本", scope="read_write")
    created = answer.json

    assert answer.status_code == 201
    assert created["apiKey"].startswith("ff_live_")
    assert created["signingSecret"].startswith("ffsec_")
    assert {name: created[name] for name in ("name", "scope", "isTest", "lastFour", "createdByEmail", "revokedAt")} == {
        "name": "Shop – 日本",
        "scope": "read_write",
        "isTest": False,
        "lastFour": created["apiKey"][-4:],
        "createdByEmail": "admin@example.com",
        "revokedAt": None,
    }
    assert _is_accepted(brand, created["apiKey"])


def test_key_signs_with_its_secret(brand, admin):
    brand.program()
    brand.affiliate("ben")
    created = _create(admin, scope="read_write").json

    answer = replace(brand, api_key=created["apiKey"], signing_secret=created["signingSecret"]).sale()

    assert answer.status_code == 200


def test_default_key_reads_live_data(brand, admin):
    created = admin.call("POST", URL).json

    assert (created["name"], created["scope"], created["isTest"]) == ("", "read", False)
    assert (
        replace(brand, api_key=created["apiKey"]).call("PATCH", "/api/v1/settings/attribution-params", {}).status_code
        == 403
    )


def test_test_key_has_its_own_prefix(admin):
    created = _create(admin, isTest=True).json

    assert created["isTest"] is True
    assert created["apiKey"].startswith("ff_test_")


def test_active_keys_are_listed_first_without_secrets(brand, admin):
    first = _create(admin, name="first").json
    second = _create(admin, name="second").json
    admin.call("DELETE", f"{URL}/{second['id']}")

    answer = admin.get(URL)

    assert [key["name"] for key in answer.json] == ["first", "", "second"]
    assert answer.json[0] == {name: first[name] for name in first if name not in ("apiKey", "signingSecret")}
    assert answer.json[2]["revokedAt"].endswith("Z")
    for secret in (first["apiKey"], first["signingSecret"], second["apiKey"], brand.api_key, "ff_live_"):
        assert secret not in answer.get_data(as_text=True)


def test_other_tenants_keys_are_not_listed(admin, rival):
    created = _create(admin).json

    assert created["id"] not in [key["id"] for key in rival.person("Owner").get(URL).json]


def test_rotation_replaces_a_key_with_an_equal_one(brand, admin):
    old = _create(admin, name="shop", scope="read_write", isTest=True).json

    answer = brand.person("Owner").post(f"{URL}/{old['id']}/rotate")
    new = answer.json

    assert answer.status_code == 200
    assert (new["name"], new["scope"], new["isTest"]) == ("shop", "read_write", True)
    assert new["createdByEmail"] == "owner@example.com"
    assert new["id"] != old["id"]
    assert new["signingSecret"] != old["signingSecret"]
    assert not _is_accepted(brand, old["apiKey"])
    assert _is_accepted(brand, new["apiKey"])


def test_concurrent_rotations_rotate_once(admin):
    old = _create(admin).json
    rotate = f"{URL}/{old['id']}/rotate"

    answers = run_concurrently(lambda: admin.post(rotate), lambda: admin.post(rotate))

    assert sorted(answer.status_code for answer in answers) == [200, 404]
    assert sum(key["revokedAt"] is None for key in admin.get(URL).json) == 2


def test_revoked_key_is_refused_and_cannot_be_revoked_or_rotated(brand, admin):
    created = _create(admin).json

    revoked = admin.call("DELETE", f"{URL}/{created['id']}")
    repeated = admin.call("DELETE", f"{URL}/{created['id']}")
    rotated = admin.post(f"{URL}/{created['id']}/rotate")

    assert (revoked.status_code, revoked.data) == (204, b"")
    assert not _is_accepted(brand, created["apiKey"])
    for answer in (repeated, rotated):
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("action", ["revoke", "rotate"])
def test_revoked_or_rotated_key_leaves_the_cache_at_once(brand, admin, monkeypatch, action):
    override_settings(monkeypatch, web={"key_cache_s": 600})
    callers.clear_cache()
    created = _create(admin).json
    assert _is_accepted(brand, created["apiKey"])

    if action == "revoke":
        admin.call("DELETE", f"{URL}/{created['id']}")
    else:
        admin.post(f"{URL}/{created['id']}/rotate")

    assert not _is_accepted(brand, created["apiKey"])


def test_every_change_is_audited_without_secrets(brand, admin):
    created = _create(admin, name="shop").json
    rotated = admin.post(f"{URL}/{created['id']}/rotate").json
    admin.call("DELETE", f"{URL}/{rotated['id']}")

    rows = _list_audit_entries(brand)
    assert [(action, entity_id) for action, entity_id, _ in rows] == [
        ("api_key.created", created["id"]),
        ("api_key.rotated", created["id"]),
        ("api_key.revoked", rotated["id"]),
    ]
    assert rows[1][2]["id"] == rotated["id"]
    for key in (created, rotated):
        for secret in (key["apiKey"], key["signingSecret"]):
            assert secret not in str(brand.rows("select * from audit_entry"))
            assert secret not in str(brand.rows("select * from api_key"))


def test_audit_log_of_a_key_hides_creators_of_keys(brand, admin):
    brand.set(plan="Pro")
    created = _create(admin).json
    rotated = admin.post(f"{URL}/{created['id']}/rotate").json
    admin.call("DELETE", f"{URL}/{rotated['id']}")

    log = brand.get("/api/v1/audit-log")

    assert log.json["total"] == 3
    for identity in (created["createdBy"], "admin@example.com"):
        assert identity not in log.get_data(as_text=True)


def test_repeated_creation_shows_the_same_secrets(brand, admin):
    first = _create(admin, name="shop", Idempotency_Key="k1")
    repeated = _create(admin, name="shop", Idempotency_Key="k1")
    other = _create(admin, name="other", Idempotency_Key="k1")

    assert (repeated.status_code, repeated.headers["Idempotency-Replayed"], repeated.json) == (201, "true", first.json)
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert len(admin.get(URL).json) == 2
    assert first.json["apiKey"] not in str(brand.rows("select * from stored_answer"))


def test_repeated_rotation_shows_the_same_secrets(admin):
    created = _create(admin).json
    answers = [admin.post(f"{URL}/{created['id']}/rotate", Idempotency_Key="k1") for _ in range(2)]

    assert answers[0].status_code == 200
    assert answers[0].json == answers[1].json


def _insert_keys(brand, count):
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into api_key (id, organization_id, member_id, name, scope, is_test, last_four, key_hash,"
            " signing_secret_sealed) select gen_random_uuid(), organization_id, id, '', 'read', false, 'abcd',"
            " decode(md5(id::text || n::text), 'hex'), '' from member, generate_series(1, %s) n where role = 'Owner'"
            " returning id",
            (count,),
        )


def test_organization_has_at_most_100_active_keys(brand, admin):
    _insert_keys(brand, 98)  # plus the brand's own key

    created = _create(admin)
    refused = _create(admin)
    rotated = admin.post(f"{URL}/{created.json['id']}/rotate")
    admin.call("DELETE", f"{URL}/{rotated.json['id']}")
    after = _create(admin)

    assert (refused.status_code, refused.json["error"]) == (409, "api_key_limit_reached")
    assert (created.status_code, rotated.status_code, after.status_code) == (201, 200, 201)


def test_concurrent_creations_share_the_last_key(brand, admin):
    _insert_keys(brand, 98)

    answers = run_concurrently(lambda: _create(admin), lambda: _create(admin))

    assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_operator_command_obeys_the_same_limit(brand):
    _insert_keys(brand, 99)

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
def test_malformed_body_returns_problem_details(admin, body):
    answer = admin.post(URL, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_creator_and_organization_cannot_be_sent(brand, admin, rival):
    created = _create(admin, organizationId=str(rival.id), memberId=str(uuid4()), id=str(uuid4()), apiKey="mine").json

    assert created["createdByEmail"] == "admin@example.com"
    assert created["apiKey"] != "mine"
    assert created["id"] in [key["id"] for key in admin.get(URL).json]


def test_other_tenants_key_returns_404(brand, admin, rival):
    rivals_key_id = rival.person("Owner").get(URL).json[0]["id"]

    for key_id in (rivals_key_id, uuid4(), "x", "x" * 200):
        for answer in (admin.call("DELETE", f"{URL}/{key_id}"), admin.post(f"{URL}/{key_id}/rotate")):
            assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert _is_accepted(rival, rival.api_key)


@pytest.mark.parametrize("role", ["Manager", "Viewer"])
def test_role_below_admin_neither_lists_nor_creates_keys(brand, role):
    person = brand.person(role)
    path = f"{URL}/{uuid4()}"

    for answer in (person.get(URL), person.post(URL, {}), person.call("DELETE", path), person.post(f"{path}/rotate")):
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("scope", ["read", "read_write"])
def test_key_cannot_create_keys(brand, scope):
    key = brand.other_key(scope=scope)

    for answer in (key.get(URL), key.post(URL, {}), key.call("DELETE", f"{URL}/{uuid4()}")):
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_last_use_of_a_key_is_recorded_hourly(brand, admin):
    created = _create(admin, name="Shop").json
    (key_view,) = [key for key in admin.get(URL).json if key["id"] == created["id"]]
    assert key_view["lastUsedAt"] is None

    _is_accepted(brand, created["apiKey"])
    (first,) = [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == created["id"]]
    assert first is not None
    callers.clear_cache()
    _is_accepted(brand, created["apiKey"])
    assert [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == created["id"]] == [first]

    brand.rows(
        "update api_key set last_used_at = now() - interval '61 minutes' where id = %s returning 1", created["id"]
    )
    callers.clear_cache()
    _is_accepted(brand, created["apiKey"])
    (updated,) = [key["lastUsedAt"] for key in admin.get(URL).json if key["id"] == created["id"]]
    assert updated >= first
