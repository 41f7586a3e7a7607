"""Embed tokens: how a brand creates, rotates and revokes them. Source: core spec, section 5 (embed token endpoints)."""

from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.embed_tokens import ORIGIN, TOKENS, build_token_body, call_embed_api, issue_token


@pytest.fixture
def ben_id(brand):
    """The id of an Approved affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben"))


def _call_status(brand, token):
    return call_embed_api(brand.app, token["token"], "/me").status_code


def _list_audit_entries(brand):
    return brand.rows(
        "select action, before, after from audit_entry where entity_type = 'embed_token' order by created_at, id"
    )


def test_created_token_has_its_embed_url_and_origins(brand, ben_id):
    answer = brand.post(TOKENS, build_token_body(ben_id, allowedOrigins=[f"{ORIGIN}:443", "http://localhost:3000"]))
    token = answer.json

    assert answer.status_code == 201
    assert token["token"].startswith("ff_emb_")
    assert token["embedUrl"] == f"http://127.0.0.1:8000/embed/{token['id']}"
    assert token["allowedOrigins"] == [ORIGIN, "http://localhost:3000"]
    assert (token["affiliateId"], token["affiliateName"], token["lastUsedAt"]) == (ben_id, "Ben", None)
    assert _call_status(brand, token) == 200


def test_second_request_updates_origins_and_keeps_token_and_expiry(brand, ben_id):
    first = issue_token(brand, ben_id, expiresInHours=1)

    answer = brand.post(
        TOKENS, build_token_body(ben_id, expiresInHours=720, allowedOrigins=["https://other.acme.example"])
    )

    assert answer.status_code == 200
    assert {name for name in first if answer.json[name] != first[name]} == {"allowedOrigins"}
    assert answer.json["allowedOrigins"] == ["https://other.acme.example"]


def test_rotation_revokes_the_old_token_at_once(brand, ben_id):
    first = issue_token(brand, ben_id)

    answer = brand.post(TOKENS, build_token_body(ben_id, rotate=True))

    assert (answer.status_code, answer.json["id"]) == (201, first["id"])
    assert answer.json["token"] != first["token"]
    assert (_call_status(brand, first), _call_status(brand, answer.json)) == (401, 200)


def test_rotation_without_a_token_creates_one(brand, ben_id):
    assert brand.post(TOKENS, build_token_body(ben_id, rotate=True)).status_code == 201


def test_request_after_revocation_creates_a_new_token(brand, ben_id):
    first = issue_token(brand, ben_id)

    statuses = [brand.call("DELETE", f"{TOKENS}/{first['id']}").status_code for _ in range(2)]
    again = brand.post(TOKENS, build_token_body(ben_id))

    assert statuses == [204, 404]
    assert (again.status_code, _call_status(brand, first), _call_status(brand, again.json)) == (201, 401, 200)


def test_request_after_expiry_replaces_the_token(brand, ben_id, flask):
    first = issue_token(brand, ben_id)
    assert flask("embed", "expire", first["id"])[0] == 0

    again = brand.post(TOKENS, build_token_body(ben_id))

    assert (again.status_code, again.json["id"]) == (201, first["id"])
    assert (_call_status(brand, first), _call_status(brand, again.json)) == (401, 200)


def test_expiring_an_unknown_token_fails(flask):
    code, output = flask("embed", "expire", str(uuid4()))

    assert code == 1
    assert "no embed token" in output


def test_list_excludes_token_secrets(brand, rival, ben_id):
    eva = str(brand.affiliate("eva"))
    rival.program()
    issue_token(rival, rival.affiliate("ray"))
    tokens = [issue_token(brand, affiliate_id) for affiliate_id in (ben_id, eva)]

    listed = brand.get(TOKENS).json
    first = brand.get(f"{TOKENS}?take=1").json
    second = brand.get(f"{TOKENS}?take=1&cursor={first['nextCursor']}").json
    of_ben = brand.get(f"{TOKENS}?affiliateId={ben_id}").json["items"]

    assert [row["affiliateId"] for row in listed["items"]] == [eva, ben_id]
    assert [row["affiliateId"] for page in (first, second) for row in page["items"]] == [eva, ben_id]
    assert [row["id"] for row in of_ben] == [tokens[0]["id"]]
    assert all(token["token"] not in brand.get(TOKENS).text for token in tokens)


def test_list_has_the_time_of_last_use(brand, ben_id):
    token = issue_token(brand, ben_id)
    call_embed_api(brand.app, token["token"], "/me")

    (row,) = brand.get(TOKENS).json["items"]
    assert row["lastUsedAt"] is not None


def test_audit_log_has_every_action_without_the_token(brand, ben_id):
    tokens = [issue_token(brand, ben_id), issue_token(brand, ben_id, allowedOrigins=["https://b.acme.example"])]
    tokens.append(issue_token(brand, ben_id, rotate=True))
    brand.call("DELETE", f"{TOKENS}/{tokens[0]['id']}")

    entries = _list_audit_entries(brand)
    assert [action for action, *_ in entries] == [
        "embed_token.created",
        "embed_token.changed",
        "embed_token.rotated",
        "embed_token.revoked",
    ]
    assert not any(row["token"] in str(entries) or row["token"][7:40] in str(entries) for row in tokens)


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_token_for_an_unapproved_affiliate_returns_409(brand, status):
    brand.program()
    answer = brand.post(TOKENS, build_token_body(brand.affiliate("ben", status=status)))

    assert (answer.status_code, answer.json["error"]) == (409, "affiliate_not_active")


def test_invalid_token_request_creates_nothing(brand, rival, ben_id):
    rival.program()
    rival_affiliate = str(rival.affiliate("ray"))
    cases = {
        "another tenant's": (build_token_body(rival_affiliate), 404, "not_found"),
        "unknown affiliate": (build_token_body(uuid4()), 404, "not_found"),
        "no origins": (build_token_body(ben_id, allowedOrigins=[]), 400, "invalid_origin"),
        "origins left out": ({"affiliateId": ben_id}, 400, "invalid_origin"),
        "a wildcard": (build_token_body(ben_id, allowedOrigins=["https://*.acme.example"]), 400, "invalid_origin"),
        "capitals": (build_token_body(ben_id, allowedOrigins=["https://App.acme.example"]), 400, "invalid_origin"),
        "other letters": (build_token_body(ben_id, allowedOrigins=["https://münchen.example"]), 400, "invalid_origin"),
        "null": (build_token_body(ben_id, allowedOrigins=["null"]), 400, "invalid_origin"),
        "a NUL": (build_token_body(ben_id, allowedOrigins=[f"{ORIGIN}\x00"]), 400, "invalid_origin"),
        "a long text": (build_token_body(ben_id, allowedOrigins=["https://" + "a" * 50_000]), 400, "invalid_origin"),
        "eleven": (build_token_body(ben_id, allowedOrigins=[ORIGIN] * 11), 400, "too_many_origins"),
        "no hours": (build_token_body(ben_id, expiresInHours=0), 400, "expires_out_of_range"),
        "less": (build_token_body(ben_id, expiresInHours=-1), 400, "expires_out_of_range"),
        "too many hours": (build_token_body(ben_id, expiresInHours=721), 400, "expires_out_of_range"),
        "hours in words": (build_token_body(ben_id, expiresInHours="24"), 400, None),
        "half an hour": (build_token_body(ben_id, expiresInHours=0.5), 400, None),
        "origins are a text": (build_token_body(ben_id, allowedOrigins=ORIGIN), 400, None),
        "origins are numbers": (build_token_body(ben_id, allowedOrigins=[7]), 400, None),
        "origins are nothing": (build_token_body(ben_id, allowedOrigins=None), 400, None),
        "rotate is a text": (build_token_body(ben_id, rotate="yes"), 400, None),
        "no id": (build_token_body("me"), 400, None),
        "no affiliate": ({"allowedOrigins": [ORIGIN]}, 400, None),
        "no object": ([], 400, None),
    }
    answers = {name: brand.post(TOKENS, body) for name, (body, *_) in cases.items()}

    assert {name: (answer.status_code, answer.json.get("error")) for name, answer in answers.items()} == {
        name: (status, code) for name, (_, status, code) in cases.items()
    }
    assert "https://*.acme.example" in answers["a wildcard"].json["message"]
    assert brand.get(TOKENS).json["items"] == []


def test_read_key_and_viewer_get_403(app, brand, ben_id):
    token = issue_token(brand, ben_id)
    reader, viewer = brand.other_key(scope="read"), brand.person("Viewer")

    for caller in (reader, viewer):
        answers = (
            caller.get(TOKENS),
            caller.post(TOKENS, build_token_body(ben_id)),
            caller.call("DELETE", f"{TOKENS}/{token['id']}"),
        )
        assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert brand.person("Manager").get(TOKENS).status_code == 200


def test_smaller_plan_returns_402(brand, ben_id):
    brand.set(plan="Starter")
    answer = brand.post(TOKENS, build_token_body(ben_id))

    assert (answer.status_code, answer.json["error"], answer.json["required"]) == (402, "plan_tier_required", "Growth")


def test_rival_cannot_revoke_or_list_the_token(brand, rival, ben_id):
    token = issue_token(brand, ben_id)

    assert rival.call("DELETE", f"{TOKENS}/{token['id']}").status_code == 404
    assert rival.get(f"{TOKENS}?affiliateId={ben_id}").json["items"] == []
    assert _call_status(brand, token) == 200


def test_concurrent_requests_create_one_token(brand, ben_id):
    answers = run_concurrently(*[lambda: brand.post(TOKENS, build_token_body(ben_id))] * 2)

    assert sorted(answer.status_code for answer in answers) == [200, 201]
    assert len({answer.json["token"] for answer in answers}) == 1


def test_repeated_rotation_with_an_idempotency_key_rotates_once(brand, ben_id):
    issue_token(brand, ben_id)
    first, again = (brand.post(TOKENS, build_token_body(ben_id, rotate=True), Idempotency_Key="r") for _ in range(2))

    assert first.json == again.json
    assert _call_status(brand, again.json) == 200
