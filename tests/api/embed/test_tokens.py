"""Embed tokens, as a brand makes and ends them. Source: core spec, section 5 (embed token endpoints)."""

from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.embed_tokens import ORIGIN, TOKENS, build_token_body, call_embed_api, issue_token


@pytest.fixture
def ben(brand):
    """The id of an Approved affiliate of the brand, as text."""
    brand.program()
    return str(brand.affiliate("ben"))


def _works(brand, token):
    return call_embed_api(brand.app, token["token"], "/me").status_code


def _audited(brand):
    return brand.rows(
        "select action, before, after from audit_entry where entity_type = 'embed_token' order by created_at, id"
    )


def test_a_token_is_made_with_the_address_to_frame(brand, ben):
    answer = brand.post(TOKENS, build_token_body(ben, allowedOrigins=[f"{ORIGIN}:443", "http://localhost:3000"]))
    made = answer.json

    assert answer.status_code == 201
    assert made["token"].startswith("ff_emb_")
    assert made["embedUrl"] == f"http://127.0.0.1:8000/embed/{made['id']}"
    assert made["allowedOrigins"] == [ORIGIN, "http://localhost:3000"]
    assert (made["affiliateId"], made["affiliateName"], made["lastUsedAt"]) == (ben, "Ben", None)
    assert _works(brand, made) == 200


def test_asked_again_it_is_the_same_token_with_the_same_end(brand, ben):
    first = issue_token(brand, ben, expiresInHours=1)

    answer = brand.post(
        TOKENS, build_token_body(ben, expiresInHours=720, allowedOrigins=["https://other.acme.example"])
    )

    assert answer.status_code == 200
    assert {name for name in first if answer.json[name] != first[name]} == {"allowedOrigins"}
    assert answer.json["allowedOrigins"] == ["https://other.acme.example"]


def test_rotation_ends_the_one_before_at_once(brand, ben):
    first = issue_token(brand, ben)

    answer = brand.post(TOKENS, build_token_body(ben, rotate=True))

    assert (answer.status_code, answer.json["id"]) == (201, first["id"])
    assert answer.json["token"] != first["token"]
    assert (_works(brand, first), _works(brand, answer.json)) == (401, 200)


def test_rotation_of_nothing_makes_the_first(brand, ben):
    assert brand.post(TOKENS, build_token_body(ben, rotate=True)).status_code == 201


def test_a_revoked_token_is_over_and_the_next_is_another(brand, ben):
    first = issue_token(brand, ben)

    gone = [brand.call("DELETE", f"{TOKENS}/{first['id']}").status_code for _ in range(2)]
    again = brand.post(TOKENS, build_token_body(ben))

    assert gone == [204, 404]
    assert (again.status_code, _works(brand, first), _works(brand, again.json)) == (201, 401, 200)


def test_an_expired_token_is_over_and_the_next_is_another(brand, ben, flask):
    first = issue_token(brand, ben)
    assert flask("embed", "expire", first["id"])[0] == 0

    again = brand.post(TOKENS, build_token_body(ben))

    assert (again.status_code, again.json["id"]) == (201, first["id"])
    assert (_works(brand, first), _works(brand, again.json)) == (401, 200)


def test_an_operator_is_told_of_a_token_that_is_not_there(flask):
    code, said = flask("embed", "expire", str(uuid4()))

    assert code == 1
    assert "no embed token" in said


def test_tokens_are_listed_without_what_lets_in(brand, rival, ben):
    eva = str(brand.affiliate("eva"))
    rival.program()
    issue_token(rival, rival.affiliate("ray"))
    made = [issue_token(brand, one) for one in (ben, eva)]

    listed = brand.get(TOKENS).json
    first = brand.get(f"{TOKENS}?take=1").json
    second = brand.get(f"{TOKENS}?take=1&cursor={first['nextCursor']}").json
    of_ben = brand.get(f"{TOKENS}?affiliateId={ben}").json["items"]

    assert [one["affiliateId"] for one in listed["items"]] == [eva, ben]
    assert [one["affiliateId"] for page in (first, second) for one in page["items"]] == [eva, ben]
    assert [one["id"] for one in of_ben] == [made[0]["id"]]
    assert all(one["token"] not in brand.get(TOKENS).text for one in made)


def test_when_it_was_last_used_is_told(brand, ben):
    made = issue_token(brand, ben)
    call_embed_api(brand.app, made["token"], "/me")

    (shown,) = brand.get(TOKENS).json["items"]
    assert shown["lastUsedAt"] is not None


def test_the_audit_log_says_what_was_done_and_never_the_token(brand, ben):
    made = [issue_token(brand, ben), issue_token(brand, ben, allowedOrigins=["https://b.acme.example"])]
    made.append(issue_token(brand, ben, rotate=True))
    brand.call("DELETE", f"{TOKENS}/{made[0]['id']}")

    entries = _audited(brand)
    assert [action for action, *_ in entries] == [
        "embed_token.created",
        "embed_token.changed",
        "embed_token.rotated",
        "embed_token.revoked",
    ]
    assert not any(one["token"] in str(entries) or one["token"][7:40] in str(entries) for one in made)


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_only_who_is_approved_gets_one(brand, status):
    brand.program()
    answer = brand.post(TOKENS, build_token_body(brand.affiliate("ben", status=status)))

    assert (answer.status_code, answer.json["error"]) == (409, "affiliate_not_active")


def test_what_is_wrong_is_refused_and_nothing_is_made(brand, rival, ben):
    rival.program()
    theirs = str(rival.affiliate("ray"))
    cases = {
        "another tenant's": (build_token_body(theirs), 404, "not_found"),
        "nobody's": (build_token_body(uuid4()), 404, "not_found"),
        "no origins": (build_token_body(ben, allowedOrigins=[]), 400, "invalid_origin"),
        "origins left out": ({"affiliateId": ben}, 400, "invalid_origin"),
        "a wildcard": (build_token_body(ben, allowedOrigins=["https://*.acme.example"]), 400, "invalid_origin"),
        "capitals": (build_token_body(ben, allowedOrigins=["https://App.acme.example"]), 400, "invalid_origin"),
        "other letters": (build_token_body(ben, allowedOrigins=["https://münchen.example"]), 400, "invalid_origin"),
        "null": (build_token_body(ben, allowedOrigins=["null"]), 400, "invalid_origin"),
        "a NUL": (build_token_body(ben, allowedOrigins=[f"{ORIGIN}\x00"]), 400, "invalid_origin"),
        "a long text": (build_token_body(ben, allowedOrigins=["https://" + "a" * 50_000]), 400, "invalid_origin"),
        "eleven": (build_token_body(ben, allowedOrigins=[ORIGIN] * 11), 400, "too_many_origins"),
        "no hours": (build_token_body(ben, expiresInHours=0), 400, "expires_out_of_range"),
        "less": (build_token_body(ben, expiresInHours=-1), 400, "expires_out_of_range"),
        "too many hours": (build_token_body(ben, expiresInHours=721), 400, "expires_out_of_range"),
        "hours in words": (build_token_body(ben, expiresInHours="24"), 400, None),
        "half an hour": (build_token_body(ben, expiresInHours=0.5), 400, None),
        "origins are a text": (build_token_body(ben, allowedOrigins=ORIGIN), 400, None),
        "origins are numbers": (build_token_body(ben, allowedOrigins=[7]), 400, None),
        "origins are nothing": (build_token_body(ben, allowedOrigins=None), 400, None),
        "rotate is a text": (build_token_body(ben, rotate="yes"), 400, None),
        "no id": (build_token_body("me"), 400, None),
        "nobody at all": ({"allowedOrigins": [ORIGIN]}, 400, None),
        "no object": ([], 400, None),
    }
    found = {name: brand.post(TOKENS, body) for name, (body, *_) in cases.items()}

    assert {name: (one.status_code, one.json.get("error")) for name, one in found.items()} == {
        name: (status, code) for name, (_, status, code) in cases.items()
    }
    assert "https://*.acme.example" in found["a wildcard"].json["message"]
    assert brand.get(TOKENS).json["items"] == []


def test_who_may_not_write_sees_no_token_either(app, brand, ben):
    made = issue_token(brand, ben)
    reader, viewer = brand.other_key(scope="read"), brand.person("Viewer")

    for one in (reader, viewer):
        calls = (one.get(TOKENS), one.post(TOKENS, build_token_body(ben)), one.call("DELETE", f"{TOKENS}/{made['id']}"))
        assert [answer.status_code for answer in calls] == [403, 403, 403]
    assert brand.person("Manager").get(TOKENS).status_code == 200


def test_a_smaller_plan_makes_none(brand, ben):
    brand.set(plan="Starter")
    answer = brand.post(TOKENS, build_token_body(ben))

    assert (answer.status_code, answer.json["error"], answer.json["required"]) == (402, "plan_tier_required", "Growth")


def test_a_rivals_token_cannot_be_ended_or_read(brand, rival, ben):
    made = issue_token(brand, ben)

    assert rival.call("DELETE", f"{TOKENS}/{made['id']}").status_code == 404
    assert rival.get(f"{TOKENS}?affiliateId={ben}").json["items"] == []
    assert _works(brand, made) == 200


def test_twice_at_once_it_is_one_token(brand, ben):
    answers = run_concurrently(*[lambda: brand.post(TOKENS, build_token_body(ben))] * 2)

    assert sorted(one.status_code for one in answers) == [200, 201]
    assert len({one.json["token"] for one in answers}) == 1


def test_a_key_rotates_once_for_a_request_that_is_sent_twice(brand, ben):
    issue_token(brand, ben)
    first, again = (brand.post(TOKENS, build_token_body(ben, rotate=True), Idempotency_Key="r") for _ in range(2))

    assert first.json == again.json
    assert _works(brand, again.json) == 200
