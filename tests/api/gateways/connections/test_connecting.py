"""Connecting a gateway: permissions, refused requests, and exactly one webhook per connection."""

import json

import pytest

from tests.support.gateways.card.stripe import KEY, TEST_KEY
from tests.support.gateways.gateway_connections import build_connection_body, connect_gateway
from tests.support.threads import run_in_threads

URL = "/api/v1/connections"


def _build_body_without_secret(stage, **fields):
    """Return a body without a webhook secret: the service creates the endpoint at the gateway."""
    key = TEST_KEY if fields.get("mode") == "test" else KEY
    return build_connection_body(stage, credentials={"apiKey": key}, **fields)


def _list_created_webhooks(stage):
    return [call for call in stage.calls if (call.method, call.path) == ("POST", "/v1/webhook_endpoints")]


def _list_deletions(stage):
    return [call for call in stage.calls if call.method == "DELETE"]


def test_catalogue_lists_each_gateway_with_its_credentials(brand):
    gateways = {gateway["name"]: gateway for gateway in brand.get(f"{URL}/gateways").json}
    assert gateways["stripe"]["kind"] == "card"
    assert [(field["name"], field["required"]) for field in gateways["stripe"]["fields"]] == [
        ("apiKey", True),
        ("webhookSecret", False),
    ]
    assert set(gateways["stripe"]["fields"][0]) == {"name", "label", "secret", "required", "help"}


def test_connection_is_returned_without_its_credentials(brand, stage):
    owner = brand.person("Owner")
    created = connect_gateway(owner, stage)
    response = brand.get(f"{URL}/{created['id']}")

    assert {name: value for name, value in created.items() if name != "setup"} == response.json
    assert brand.get(URL).json == {"items": [response.json], "nextCursor": None, "hasMore": False}
    assert (created["gateway"], created["mode"], created["status"]) == ("stripe", "live", "Active")
    assert set(created["setup"]) == {"steps", "values"}
    for secret in [*stage.credentials.values(), *stage.subscription.values()]:
        assert secret not in json.dumps([created, brand.get(URL).json])


_INVALID_BODIES = {
    "no body": None,
    "a list": [],
    "an empty object": {},
    "no credentials": {"gateway": "stripe"},
    "unknown gateway": {"gateway": "square", "credentials": {"apiKey": "x"}},
    "gateway is no text": {"gateway": 7, "credentials": {"apiKey": "x"}},
    "unknown mode": {"gateway": "stripe", "mode": "both", "credentials": {"apiKey": "x"}},
    "credentials are a list": {"gateway": "stripe", "credentials": ["x"]},
    "credentials are empty": {"gateway": "stripe", "credentials": {}},
    "a missing credential": {"gateway": "stripe", "credentials": {"webhookSecret": "x"}},
    "an unknown credential": {"gateway": "stripe", "credentials": {"apiKey": "x", "apikey": "x"}},
    "a number": {"gateway": "stripe", "credentials": {"apiKey": 7}},
    "null": {"gateway": "stripe", "credentials": {"apiKey": None}},
    "an empty credential": {"gateway": "stripe", "credentials": {"apiKey": ""}},
    "blanks": {"gateway": "stripe", "credentials": {"apiKey": "  "}},
    "NUL": {"gateway": "stripe", "credentials": {"apiKey": "a\x00b"}},
    "too long": {"gateway": "stripe", "credentials": {"apiKey": "x" * 4_097}},
    "lone surrogate": b'{"gateway": "stripe", "credentials": {"apiKey": "\\ud800"}}',
    "nested too deep": b"[" * 50_000,
}


@pytest.mark.parametrize("body", _INVALID_BODIES.values(), ids=_INVALID_BODIES)
def test_invalid_body_returns_400_without_calling_the_gateway(brand, stage, body):
    response = brand.person("Owner").post(URL, body)
    assert response.status_code == 400, response.get_data(as_text=True)
    assert stage.calls == []
    assert brand.get(URL).json["items"] == []


@pytest.mark.parametrize("key", ["sk\r\nX-Other: 1", "ключ"], ids=["line-break", "not-ascii"])
def test_credential_invalid_as_header_returns_422(brand, stage, key):
    response = brand.person("Owner").post(URL, build_connection_body(stage, credentials={"apiKey": key}))
    assert (response.status_code, response.json["error"]) == (422, "gateway_credentials_refused")
    assert stage.calls == []


def test_spaces_around_a_credential_are_ignored(brand, stage):
    padded = {name: f" {value}\n" for name, value in stage.credentials.items()}
    assert brand.person("Owner").post(URL, build_connection_body(stage, credentials=padded)).status_code == 201


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("refuse", 422, "gateway_credentials_refused"),
        ("forbid", 422, "gateway_credentials_refused"),
        ("busy", 503, "gateway_unreachable"),
        ("fail", 503, "gateway_unreachable"),
        ("cut", 503, "gateway_unreachable"),
        ("html", 503, "gateway_unreachable"),
    ],
)
def test_connection_refused_or_unreachable_is_not_stored(brand, stage, fault, status, code):
    stage.faults.append(fault)
    response = brand.person("Owner").post(URL, build_connection_body(stage))
    assert (response.status_code, response.json["error"]) == (status, code)
    assert stage.credentials["apiKey"] not in response.get_data(as_text=True)
    assert brand.get(URL).json["items"] == []
    connect_gateway(brand.person("Owner"), stage)


def test_only_owners_and_admins_with_verified_email_connect(brand, stage):
    body = build_connection_body(stage)
    assert brand.post(URL, body).status_code == 403  # an API key
    assert brand.person("Manager").post(URL, body).status_code == 403
    assert brand.person("Admin", is_email_verified=False).post(URL, body).status_code == 403
    assert stage.calls == []
    response = brand.person("Admin").post(URL, body)
    assert response.status_code == 201

    path = f"{URL}/{response.json['id']}"
    writes = [("PATCH", path), ("DELETE", path), ("POST", f"{path}/check"), ("POST", f"{path}/reconcile")]
    for method, address in writes:
        assert brand.call(method, address, {"credentials": {"apiKey": "x"}}).status_code == 403
        assert brand.person("Manager").call(method, address, {"credentials": {"apiKey": "x"}}).status_code == 403


def test_reading_on_the_free_plan_returns_402(brand):
    brand.set(plan="Free")
    for path in (URL, f"{URL}/gateways"):
        assert brand.get(path).status_code == 402


def test_second_connection_returns_409_unless_of_the_other_mode(brand, stage):
    owner = brand.person("Owner")
    assert owner.post(URL, _build_body_without_secret(stage)).status_code == 201
    response = owner.post(URL, _build_body_without_secret(stage))
    assert (response.status_code, response.json["error"]) == (409, "gateway_already_connected")
    assert owner.post(URL, _build_body_without_secret(stage, mode="test")).status_code == 201
    assert len(_list_created_webhooks(stage)) == 2


def test_concurrent_requests_create_one_connection_and_one_webhook(brand, stage):
    owner, statuses = brand.person("Owner"), []
    run_in_threads(4, lambda _: statuses.append(owner.post(URL, _build_body_without_secret(stage)).status_code))
    assert sorted(statuses) == [201, 409, 409, 409]
    assert len(_list_created_webhooks(stage)) - len(_list_deletions(stage)) == 1


def test_repeated_key_returns_the_first_response_without_a_call(brand, stage):
    owner = brand.person("Owner")
    first = owner.post(URL, _build_body_without_secret(stage), Idempotency_Key="once")
    call_count = len(stage.calls)
    repeated = owner.post(URL, _build_body_without_secret(stage), Idempotency_Key="once")
    assert (repeated.status_code, repeated.json, len(stage.calls)) == (201, first.json, call_count)
    conflicting = owner.post(URL, _build_body_without_secret(stage, mode="test"), Idempotency_Key="once")
    assert (conflicting.status_code, conflicting.json["error"]) == (409, "idempotency_conflict")


def test_concurrent_requests_of_one_key_create_one_webhook(brand, stage):
    owner, responses = brand.person("Owner"), []
    run_in_threads(
        4, lambda _: responses.append(owner.post(URL, _build_body_without_secret(stage), Idempotency_Key="shared"))
    )
    assert {response.status_code for response in responses} <= {201, 409}
    assert len({response.json["id"] for response in responses if response.status_code == 201}) == 1
    assert len(_list_created_webhooks(stage)) - len(_list_deletions(stage)) == 1
    assert len(brand.get(URL).json["items"]) == 1
