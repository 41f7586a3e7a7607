"""Creating a connection to a platform: permissions, refusals, and no storage of refused credentials."""

import json

import pytest

from tests.support.platforms.platform_connections import STAGES, build_platform_body, connect_platform
from tests.support.threads import run_in_threads

URL = "/api/v1/platforms"


def test_catalogue_lists_platforms_with_their_credentials(brand):
    listed = {platform["name"]: platform for platform in brand.get(f"{URL}/catalogue").json}
    assert list(listed) == ["kit", "beehiiv", "mailchimp", "hubspot", "activecampaign"]
    assert {name: [field["name"] for field in platform["fields"]] for name, platform in listed.items()} == {
        "kit": ["apiKey"],
        "beehiiv": ["apiKey", "publicationId"],
        "mailchimp": ["apiKey", "listId"],
        "hubspot": ["accessToken"],
        "activecampaign": ["apiUrl", "apiKey"],
    }
    assert (listed["kit"]["slugField"], listed["mailchimp"]["slugField"]) == ("affiliate_slug", "AFF_SLUG")
    assert set(listed["kit"]["fields"][0]) == {"name", "label", "secret", "required", "help"}


@pytest.mark.parametrize("platform", STAGES, indirect=True)
def test_connection_is_returned_without_its_credentials(brand, platform):
    created = connect_platform(brand.person("Owner"), platform)
    assert brand.get(f"{URL}/{created['id']}").json == created
    assert brand.get(URL).json == {"items": [created], "nextCursor": None, "hasMore": False}
    assert set(created) == {
        "id", "platform", "status", "creditSales", "slugField", "connectedAt", "lastCheckedAt", "lastError"
    }  # fmt: skip
    assert (created["platform"], created["status"], created["creditSales"]) == (platform.platform.name, "Active", True)
    assert created["lastError"] is None
    stored = brand.rows("select to_jsonb(c)::text from platform_connection c")
    for secret in platform.credentials.values():
        assert secret not in json.dumps([created, brand.get(URL).json, stored])


_MALFORMED = {
    "no body": None,
    "a list": [],
    "nothing": {},
    "no credentials": {"platform": "kit"},
    "unknown platform": {"platform": "substack", "credentials": {"apiKey": "x"}},
    "platform is no text": {"platform": 7, "credentials": {"apiKey": "x"}},
    "credentials are a list": {"platform": "kit", "credentials": ["x"]},
    "credentials are empty": {"platform": "kit", "credentials": {}},
    "a missing credential": {"platform": "beehiiv", "credentials": {"apiKey": "x"}},
    "an unknown credential": {"platform": "kit", "credentials": {"apiKey": "x", "apikey": "x"}},
    "a number": {"platform": "kit", "credentials": {"apiKey": 7}},
    "null": {"platform": "kit", "credentials": {"apiKey": None}},
    "blanks": {"platform": "kit", "credentials": {"apiKey": "  "}},
    "NUL": {"platform": "kit", "credentials": {"apiKey": "a\x00b"}},
    "too long": {"platform": "kit", "credentials": {"apiKey": "x" * 4_097}},
    "half a character": b'{"platform": "kit", "credentials": {"apiKey": "\\ud800"}}',
    "deep": b"[" * 50_000,
    "a field that is no text": {"platform": "kit", "credentials": {"apiKey": "x"}, "slugField": 7},
    "a field with NUL": {"platform": "kit", "credentials": {"apiKey": "x"}, "slugField": "a\x00"},
    "a field with a line": {"platform": "kit", "credentials": {"apiKey": "x"}, "slugField": "a\nb"},
    "a long field": {"platform": "kit", "credentials": {"apiKey": "x"}, "slugField": "x" * 101},
    "a field too long for mailchimp": {
        "platform": "mailchimp",
        "credentials": {"apiKey": "x-us1", "listId": "a"},
        "slugField": "x" * 11,
    },
}


@pytest.mark.parametrize("body", _MALFORMED.values(), ids=_MALFORMED)
def test_malformed_connection_is_refused_without_a_call_to_the_platform(brand, platform, body):
    answer = brand.person("Owner").post(URL, body)
    assert answer.status_code == 400, answer.get_data(as_text=True)
    assert platform.calls == []
    assert brand.get(URL).json["items"] == []


@pytest.mark.parametrize("key", ["a\r\nX-Other: 1", "ключ"], ids=["a line", "no ASCII"])
def test_unsendable_credential_is_refused(brand, platform, key):
    answer = brand.person("Owner").post(URL, build_platform_body(platform, credentials={"apiKey": key}))
    assert (answer.status_code, answer.json["error"]) == (422, "platform_credentials_refused")
    assert platform.calls == []


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("refuse", 422, "platform_credentials_refused"),
        ("forbid", 422, "platform_credentials_refused"),
        ("busy", 503, "platform_unreachable"),
        ("fail", 503, "platform_unreachable"),
        ("cut", 503, "platform_unreachable"),
        ("html", 503, "platform_unreachable"),
    ],
)
def test_connection_refused_by_the_platform_is_not_stored(brand, platform, fault, status, code):
    platform.faults.append(fault)
    answer = brand.person("Owner").post(URL, build_platform_body(platform))
    assert (answer.status_code, answer.json["error"]) == (status, code)
    assert platform.credentials["apiKey"] not in answer.get_data(as_text=True)
    assert brand.get(URL).json["items"] == []
    connect_platform(brand.person("Owner"), platform)


def test_only_owners_and_admins_with_a_verified_email_connect(brand, platform):
    body = build_platform_body(platform)
    assert brand.post(URL, body).status_code == 403  # an API key
    assert brand.person("Manager").post(URL, body).status_code == 403
    assert brand.person("Admin", is_email_verified=False).post(URL, body).status_code == 403
    assert platform.calls == []
    created = brand.person("Admin").post(URL, body)
    assert created.status_code == 201

    path = f"{URL}/{created.json['id']}"
    for method, address in (("PATCH", path), ("DELETE", path), ("POST", f"{path}/check")):
        assert brand.call(method, address, {"creditSales": False}).status_code == 403
        assert brand.person("Manager").call(method, address, {"creditSales": False}).status_code == 403


def test_reading_needs_the_starter_plan(brand):
    brand.set(plan="Free")
    for path in (URL, f"{URL}/catalogue"):
        assert brand.get(path).status_code == 402


def test_second_connection_is_refused_without_a_call_to_the_platform(brand, rival, platform):
    owner = brand.person("Owner")
    connect_platform(owner, platform)
    calls_before = len(platform.calls)
    again = owner.post(URL, build_platform_body(platform))
    assert (again.status_code, again.json["error"]) == (409, "platform_already_connected")
    assert len(platform.calls) == calls_before
    connect_platform(rival.person("Owner"), platform)


def test_concurrent_requests_create_one_connection(brand, platform):
    owner, statuses = brand.person("Owner"), []
    run_in_threads(4, lambda _: statuses.append(owner.post(URL, build_platform_body(platform)).status_code))
    assert sorted(statuses) == [201, 409, 409, 409]
    assert len(brand.get(URL).json["items"]) == 1


def test_repeated_idempotency_key_returns_the_first_response(brand, platform):
    owner = brand.person("Owner")
    first = owner.post(URL, build_platform_body(platform), Idempotency_Key="once")
    calls_before = len(platform.calls)
    again = owner.post(URL, build_platform_body(platform), Idempotency_Key="once")
    assert (again.status_code, again.json, len(platform.calls)) == (201, first.json, calls_before)


@pytest.mark.parametrize("platform", ["beehiiv", "mailchimp"], indirect=True)
def test_ineffective_credentials_are_stored_with_a_warning(brand, platform):
    field_name = next(field.name for field in platform.platform.fields if not field.secret)
    created = connect_platform(
        brand.person("Owner"), platform, credentials={**platform.credentials, field_name: "nobodys"}
    )
    assert (created["status"], created["lastError"].startswith("the key sees no")) == ("Active", True)
    corrected = brand.person("Owner").call(
        "PATCH", f"{URL}/{created['id']}", {"credentials": {field_name: platform.credentials[field_name]}}
    )
    assert (corrected.status_code, corrected.json["lastError"]) == (200, None)
