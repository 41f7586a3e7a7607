"""Connecting a gateway: who may, what is refused, and that one request leaves one webhook there."""

import json

import pytest

from tests.support.gateways.card.stripe import KEY, TEST_KEY
from tests.support.gateways.gateway_connections import build_connection_body, connect_gateway
from tests.support.threads import run_in_threads

URL = "/api/v1/connections"


def _without_secret(stage, **fields):
    """Return a body with which the endpoint is made there by us."""
    key = TEST_KEY if fields.get("mode") == "test" else KEY
    return build_connection_body(stage, credentials={"apiKey": key}, **fields)


def _made_there(stage):
    return [asked for asked in stage.calls if (asked.method, asked.path) == ("POST", "/v1/webhook_endpoints")]


def _taken_back(stage):
    return [asked for asked in stage.calls if asked.method == "DELETE"]


def test_the_catalogue_names_each_gateway_with_its_credentials(brand):
    listed = {gateway["name"]: gateway for gateway in brand.get(f"{URL}/gateways").json}
    assert listed["stripe"]["kind"] == "card"
    assert [(field["name"], field["required"]) for field in listed["stripe"]["fields"]] == [
        ("apiKey", True),
        ("webhookSecret", False),
    ]
    assert set(listed["stripe"]["fields"][0]) == {"name", "label", "secret", "required", "help"}


def test_a_connection_is_shown_whole_and_its_credentials_nowhere(brand, stage):
    owner = brand.person("Owner")
    made = connect_gateway(owner, stage)
    shown = brand.get(f"{URL}/{made['id']}")

    assert {name: value for name, value in made.items() if name != "setup"} == shown.json
    assert brand.get(URL).json == {"items": [shown.json], "nextCursor": None, "hasMore": False}
    assert (made["gateway"], made["mode"], made["status"]) == ("stripe", "live", "Active")
    assert set(made["setup"]) == {"steps", "values"}
    for secret in [*stage.credentials.values(), *stage.subscription.values()]:
        assert secret not in json.dumps([made, brand.get(URL).json])


_SAID = {
    "no body": None,
    "a list": [],
    "nothing": {},
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
    "an empty one": {"gateway": "stripe", "credentials": {"apiKey": ""}},
    "blanks": {"gateway": "stripe", "credentials": {"apiKey": "  "}},
    "NUL": {"gateway": "stripe", "credentials": {"apiKey": "a\x00b"}},
    "too long": {"gateway": "stripe", "credentials": {"apiKey": "x" * 4_097}},
    "half a character": b'{"gateway": "stripe", "credentials": {"apiKey": "\\ud800"}}',
    "deep": b"[" * 50_000,
}


@pytest.mark.parametrize("body", _SAID.values(), ids=_SAID)
def test_what_is_no_connection_is_refused_and_nobody_is_asked(brand, stage, body):
    answer = brand.person("Owner").post(URL, body)
    assert answer.status_code == 400, answer.get_data(as_text=True)
    assert stage.calls == []
    assert brand.get(URL).json["items"] == []


@pytest.mark.parametrize("key", ["sk\r\nX-Other: 1", "ключ"], ids=["a line", "no ASCII"])
def test_what_cannot_be_sent_to_the_gateway_is_refused(brand, stage, key):
    answer = brand.person("Owner").post(URL, build_connection_body(stage, credentials={"apiKey": key}))
    assert (answer.status_code, answer.json["error"]) == (422, "gateway_credentials_refused")
    assert stage.calls == []


def test_space_around_a_pasted_credential_does_not_count(brand, stage):
    pasted = {name: f" {value}\n" for name, value in stage.credentials.items()}
    assert brand.person("Owner").post(URL, build_connection_body(stage, credentials=pasted)).status_code == 201


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
def test_what_the_gateway_does_not_take_is_not_written(brand, stage, fault, status, code):
    stage.faults.append(fault)
    answer = brand.person("Owner").post(URL, build_connection_body(stage))
    assert (answer.status_code, answer.json["error"]) == (status, code)
    assert stage.credentials["apiKey"] not in answer.get_data(as_text=True)
    assert brand.get(URL).json["items"] == []
    connect_gateway(brand.person("Owner"), stage)


def test_people_connect_owners_and_admins_with_a_verified_email(brand, stage):
    body = build_connection_body(stage)
    assert brand.post(URL, body).status_code == 403  # an API key
    assert brand.person("Manager").post(URL, body).status_code == 403
    assert brand.person("Admin", is_email_verified=False).post(URL, body).status_code == 403
    assert stage.calls == []
    made = brand.person("Admin").post(URL, body)
    assert made.status_code == 201

    path = f"{URL}/{made.json['id']}"
    writes = [("PATCH", path), ("DELETE", path), ("POST", f"{path}/check"), ("POST", f"{path}/reconcile")]
    for method, address in writes:
        assert brand.call(method, address, {"credentials": {"apiKey": "x"}}).status_code == 403
        assert brand.person("Manager").call(method, address, {"credentials": {"apiKey": "x"}}).status_code == 403


def test_reading_takes_the_starter_plan(brand):
    brand.set(plan="Free")
    for path in (URL, f"{URL}/gateways"):
        assert brand.get(path).status_code == 402


def test_a_second_one_is_refused_and_the_other_mode_is_not(brand, stage):
    owner = brand.person("Owner")
    assert owner.post(URL, _without_secret(stage)).status_code == 201
    again = owner.post(URL, _without_secret(stage))
    assert (again.status_code, again.json["error"]) == (409, "gateway_already_connected")
    assert owner.post(URL, _without_secret(stage, mode="test")).status_code == 201
    assert len(_made_there(stage)) == 2


def test_twins_leave_one_connection_and_one_webhook_there(brand, stage):
    owner, statuses = brand.person("Owner"), []
    run_in_threads(4, lambda _: statuses.append(owner.post(URL, _without_secret(stage)).status_code))
    assert sorted(statuses) == [201, 409, 409, 409]
    assert len(_made_there(stage)) - len(_taken_back(stage)) == 1


def test_a_repeated_request_gets_the_first_answer_and_asks_nobody(brand, stage):
    owner = brand.person("Owner")
    first = owner.post(URL, _without_secret(stage), Idempotency_Key="once")
    asked = len(stage.calls)
    again = owner.post(URL, _without_secret(stage), Idempotency_Key="once")
    assert (again.status_code, again.json, len(stage.calls)) == (201, first.json, asked)
    other = owner.post(URL, _without_secret(stage, mode="test"), Idempotency_Key="once")
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")


def test_twins_under_one_key_get_one_answer_and_leave_one_webhook_there(brand, stage):
    owner, answers = brand.person("Owner"), []
    run_in_threads(4, lambda _: answers.append(owner.post(URL, _without_secret(stage), Idempotency_Key="twins")))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(_made_there(stage)) - len(_taken_back(stage)) == 1
    assert len(brand.get(URL).json["items"]) == 1
