"""WWW-Authenticate on every 401. Source: RFC 9110, section 11.6.1; RFC 6750, section 3."""

import re

import pytest

_ID = "01a2240a-0000-7000-8000-000000000000"
_NONE = 'Bearer realm="finderfee"'
_REFUSED = 'Bearer realm="finderfee", error="invalid_token"'
# Its challenges name what the protocol needs; tests/api/mcp holds them.
_OWN_CHALLENGES = ("/mcp",)


@pytest.fixture(scope="module")
def requests(app):
    """Every method and address of the application, with values in place of the variables."""
    return [
        (method, re.sub(r"<[^>]+>", _ID, rule.rule))
        for rule in app.url_map.iter_rules()
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"})
        if rule.rule not in _OWN_CHALLENGES
    ]


def _collect_challenges(app, requests, **headers):
    """Return the challenges of the 401s, by request."""
    client = app.test_client(use_cookies=False)
    answers = {
        (method, path): client.open(path, method=method, headers=headers, json={} if method != "GET" else None)
        for method, path in requests
    }
    return {
        request: answer.headers.getlist("WWW-Authenticate")
        for request, answer in answers.items()
        if answer.status_code == 401
    }


def test_every_401_without_a_credential_names_the_scheme(app, requests):
    challenges = _collect_challenges(app, requests)

    assert len(challenges) > 200
    assert {request: values for request, values in challenges.items() if values != [_NONE]} == {}


def test_every_401_with_a_credential_says_that_it_is_invalid(app, requests):
    challenges = _collect_challenges(app, requests, Authorization="Bearer ff_live_unknown")
    signed = {request for request in challenges if "/tracking/" in request[1]}

    assert len(challenges) > 200
    assert len(signed) == 4
    assert {
        request: values
        for request, values in challenges.items()
        if values != [_NONE if request in signed else _REFUSED]
    } == {}


@pytest.mark.parametrize(
    ("headers", "challenge"),
    [
        ({"Authorization": "Bearer ff_live_unknown"}, _REFUSED),
        ({"X-Service-Api-Key": "ff_live_unknown"}, _REFUSED),
        ({"Authorization": "Bearer "}, _NONE),
        ({"Authorization": "Basic YTpi"}, _NONE),
        ({"Authorization": "Basic YTpi", "X-Service-Api-Key": "ff_live_unknown"}, _NONE),
    ],
)
def test_challenge_depends_on_the_sent_credential(app, headers, challenge):
    answer = app.test_client().get("/api/v1/programs", headers=headers)

    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, challenge)


def test_challenge_does_not_disclose_whether_a_key_exists(app, brand):
    client = app.test_client()
    existing, unknown = (
        client.post(
            "/api/tracking/s2s",
            json={},
            headers={"Authorization": f"Bearer {key}", "X-Service-Signature": "t=1,sig=00"},
        )
        for key in (brand.api_key, "ff_live_unknown")
    )

    assert (existing.status_code, unknown.status_code) == (401, 401)
    differing = {"X-Request-Id"}
    assert [pair for pair in existing.headers if pair[0] not in differing] == [
        pair for pair in unknown.headers if pair[0] not in differing
    ]


def test_answer_other_than_401_has_no_challenge(brand):
    answers = [brand.get("/api/v1/programs"), brand.get("/api/v1/api-keys"), brand.get("/nothing")]

    assert [answer.status_code for answer in answers] == [200, 403, 404]
    assert not any("WWW-Authenticate" in answer.headers for answer in answers)
