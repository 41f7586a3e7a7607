"""`flask key` as an operator types it."""

import hashlib
import re
from uuid import uuid4

import pytest

from adapters import sealing
from models import db


def _audit(organization_id) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select action, entity_type, entity_id, actor_type, after from audit_entry"
            " where organization_id = %s order by created_at",
            (organization_id,),
        )


def test_a_new_key_works_and_its_secrets_are_shown_once(flask, brand):
    made = flask.json("key", "create", "--org", str(brand.id), "--scope", "read", "--test", "--name", "ci")
    brand.api_key = made["apiKey"]
    listed = [row for row in flask.json("key", "list", "--org", str(brand.id)) if row["id"] == made["id"]]

    assert made["apiKey"].startswith("ff_test_")
    assert made["signingSecret"].startswith("ffsec_")
    assert brand.get("/api/v1/programs").status_code == 200
    assert brand.post("/api/v1/programs", {}).status_code == 403
    assert listed == [
        {
            "id": made["id"],
            "organization": str(brand.id),
            "name": "ci",
            "scope": "read",
            "mode": "test",
            "ends in": f"…{made['apiKey'][-4:]}",
            "revoked": None,
        }
    ]
    assert _audit(brand.id) == [
        ("api_key.created", "api_key", made["id"], "operator", {"keyId": made["id"], "scope": "read", "test": True}),
    ]


def test_of_a_new_key_nothing_is_kept_in_clear(flask, brand):
    made = flask.json("key", "create", "--org", str(brand.id), "--name", "ci")

    (kept,) = brand.rows("select * from api_key where id = %s", made["id"])
    columns = [bytes(value) if isinstance(value, memoryview) else str(value).encode() for value in kept]
    ((key_hash, sealed),) = brand.rows("select key_hash, signing_secret_sealed from api_key where id = %s", made["id"])
    assert bytes(key_hash) == hashlib.sha256(made["apiKey"].encode()).digest()
    assert sealing.unseal(bytes(sealed), belongs_to=made["id"]) == made["signingSecret"]
    assert b"ci" in columns
    for secret in (made["apiKey"].removeprefix("ff_live_"), made["signingSecret"].removeprefix("ffsec_")):
        assert len(secret) == 43
        assert not any(secret.encode() in column for column in columns)
        assert secret not in str(_audit(brand.id))


def test_a_new_key_is_shown_to_a_person_with_a_warning(flask, brand):
    code, said = flask("key", "create", "--org", str(brand.id), "--user", " Owner@Example.com")

    assert code == 0
    assert re.search(r"^api key +ff_live_\S{43}$", said, re.MULTILINE)
    assert said.endswith("Store both now: they are not shown again.\n")


def test_a_key_for_somebody_unknown_is_refused(flask, brand):
    code, said = flask("key", "create", "--org", str(brand.id), "--user", "nobody@example.com")

    assert (code, said) == (1, "Error: The organization has no member nobody@example.com.\n")


def test_a_revoked_key_is_refused_and_cannot_be_revoked_again(flask, brand):
    made = flask.json("key", "create", "--org", str(brand.id))
    revoked = flask.json("key", "revoke", made["id"], "--org", str(brand.id))
    again = flask("key", "revoke", made["id"], "--org", str(brand.id))
    brand.api_key = made["apiKey"]

    assert revoked == {"id": made["id"], "revoked": True}
    assert (again[0], "has no active key" in again[1], made["id"] in again[1]) == (1, True, True)
    assert brand.get("/api/v1/programs").status_code == 401
    assert [(action, entity_id) for action, _, entity_id, *_ in _audit(brand.id)] == [
        ("api_key.created", made["id"]),
        ("api_key.revoked", made["id"]),
    ]


def test_another_organizations_key_cannot_be_revoked(flask, brand, rival):
    made = flask.json("key", "create", "--org", str(rival.id))

    code, _ = flask("key", "revoke", made["id"], "--org", str(brand.id))
    rival.api_key = made["apiKey"]

    assert code == 1
    assert rival.get("/api/v1/programs").status_code == 200


def test_the_list_of_keys_shows_no_secret(flask, brand):
    outputs = [flask("key", "list")[1], flask("key", "list", "--org", str(brand.id), "--json")[1]]

    for output in outputs:
        assert f"…{brand.api_key[-4:]}" in output
        assert brand.api_key not in output
        assert "ffsec_" not in output


def test_a_key_of_an_organization_that_nobody_has_is_refused(flask):
    nobody = str(uuid4())

    assert flask("key", "create", "--org", nobody) == (
        1,
        f"Error: There is no organization {nobody}; `flask org list` shows them.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["create"], "Missing option '--org'"),
        (["create", "--org", str(uuid4()), "--scope", "all"], "'all' is not one of 'read', 'read_write'"),
        (["revoke", "17", "--org", str(uuid4())], "'17' is not a valid UUID"),
    ],
)
def test_a_command_that_cannot_be_read_ends_with_2_and_says_why(flask, arguments, said):
    code, output = flask("key", *arguments)

    assert code == 2
    assert said in output
