"""`flask key`: creating, listing and revoking API keys."""

import hashlib
import re
from uuid import uuid4

import pytest

from adapters.secret_key import sealing
from models import db


def _list_audit_entries(organization_id) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select action, entity_type, entity_id, actor_type, after from audit_entry"
            " where organization_id = %s order by created_at",
            (organization_id,),
        )


def test_new_key_works_and_its_secrets_are_shown_once(flask, brand):
    created = flask.json("key", "create", "--org", str(brand.id), "--scope", "read", "--test", "--name", "ci")
    brand.api_key = created["apiKey"]
    rows = [row for row in flask.json("key", "list", "--org", str(brand.id)) if row["id"] == created["id"]]

    assert created["apiKey"].startswith("ff_test_")
    assert created["signingSecret"].startswith("ffsec_")
    assert brand.get("/api/v1/programs").status_code == 200
    assert brand.post("/api/v1/programs", {}).status_code == 403
    assert rows == [
        {
            "id": created["id"],
            "organization": str(brand.id),
            "name": "ci",
            "scope": "read",
            "mode": "test",
            "ends in": f"…{created['apiKey'][-4:]}",
            "revoked": None,
        }
    ]
    assert _list_audit_entries(brand.id) == [
        (
            "api_key.created",
            "api_key",
            created["id"],
            "operator",
            {"keyId": created["id"], "scope": "read", "test": True},
        ),
    ]


def test_secrets_of_a_new_key_are_not_stored_in_plain_text(flask, brand):
    created = flask.json("key", "create", "--org", str(brand.id), "--name", "ci")

    (row,) = brand.rows("select * from api_key where id = %s", created["id"])
    columns = [bytes(value) if isinstance(value, memoryview) else str(value).encode() for value in row]
    ((key_hash, sealed),) = brand.rows(
        "select key_hash, signing_secret_sealed from api_key where id = %s", created["id"]
    )
    assert bytes(key_hash) == hashlib.sha256(created["apiKey"].encode()).digest()
    assert sealing.unseal(bytes(sealed), belongs_to=created["id"]) == created["signingSecret"]
    assert b"ci" in columns
    for secret in (created["apiKey"].removeprefix("ff_live_"), created["signingSecret"].removeprefix("ffsec_")):
        assert len(secret) == 43
        assert not any(secret.encode() in column for column in columns)
        assert secret not in str(_list_audit_entries(brand.id))


def test_new_key_is_printed_with_a_warning(flask, brand):
    code, output = flask("key", "create", "--org", str(brand.id), "--user", " Owner@Example.com")

    assert code == 0
    assert re.search(r"^api key +ff_live_\S{43}$", output, re.MULTILINE)
    assert output.endswith("Store both now: they are not shown again.\n")


def test_key_for_an_unknown_member_is_refused(flask, brand):
    code, output = flask("key", "create", "--org", str(brand.id), "--user", "nobody@example.com")

    assert (code, output) == (1, "Error: The organization has no member nobody@example.com.\n")


def test_revoked_key_is_refused_and_cannot_be_revoked_again(flask, brand):
    created = flask.json("key", "create", "--org", str(brand.id))
    revoked = flask.json("key", "revoke", created["id"], "--org", str(brand.id))
    again = flask("key", "revoke", created["id"], "--org", str(brand.id))
    brand.api_key = created["apiKey"]

    assert revoked == {"id": created["id"], "revoked": True}
    assert (again[0], "has no active key" in again[1], created["id"] in again[1]) == (1, True, True)
    assert brand.get("/api/v1/programs").status_code == 401
    assert [(action, entity_id) for action, _, entity_id, *_ in _list_audit_entries(brand.id)] == [
        ("api_key.created", created["id"]),
        ("api_key.revoked", created["id"]),
    ]


def test_key_of_another_organization_cannot_be_revoked(flask, brand, rival):
    created = flask.json("key", "create", "--org", str(rival.id))

    code, _ = flask("key", "revoke", created["id"], "--org", str(brand.id))
    rival.api_key = created["apiKey"]

    assert code == 1
    assert rival.get("/api/v1/programs").status_code == 200


def test_list_of_keys_shows_no_secret(flask, brand):
    outputs = [flask("key", "list")[1], flask("key", "list", "--org", str(brand.id), "--json")[1]]

    for output in outputs:
        assert f"…{brand.api_key[-4:]}" in output
        assert brand.api_key not in output
        assert "ffsec_" not in output


def test_key_for_an_unknown_organization_is_refused(flask):
    unknown_id = str(uuid4())

    assert flask("key", "create", "--org", unknown_id) == (
        1,
        f"Error: There is no organization {unknown_id}; `flask org list` shows them.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create"], "Missing option '--org'"),
        (["create", "--org", str(uuid4()), "--scope", "all"], "'all' is not one of 'read', 'read_write'"),
        (["revoke", "17", "--org", str(uuid4())], "'17' is not a valid UUID"),
    ],
)
def test_invalid_arguments_exit_with_2(flask, arguments, message):
    code, output = flask("key", *arguments)

    assert code == 2
    assert message in output
