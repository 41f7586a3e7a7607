"""Connecting a platform: who may, what is refused, and that nothing is kept that the platform does not take."""

import json

import pytest

from tests.support.platforms.platform_connections import STAGES, build_platform_body, connect_platform
from tests.support.threads import run_in_threads

URL = "/api/v1/platforms"


def test_the_catalogue_names_each_platform_with_its_credentials(brand):
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
def test_a_connection_is_shown_whole_and_its_credentials_nowhere(brand, platform):
    made = connect_platform(brand.person("Owner"), platform)
    assert brand.get(f"{URL}/{made['id']}").json == made
    assert brand.get(URL).json == {"items": [made], "nextCursor": None, "hasMore": False}
    assert set(made) == {
        "id", "platform", "status", "creditSales", "slugField", "connectedAt", "lastCheckedAt", "lastError"
    }  # fmt: skip
    assert (made["platform"], made["status"], made["creditSales"]) == (platform.platform.name, "Active", True)
    assert made["lastError"] is None
    kept = brand.rows("select to_jsonb(c)::text from platform_connection c")
    for secret in platform.credentials.values():
        assert secret not in json.dumps([made, brand.get(URL).json, kept])


_SAID = {
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


@pytest.mark.parametrize("body", _SAID.values(), ids=_SAID)
def test_what_is_no_connection_is_refused_and_nobody_is_asked(brand, platform, body):
    answer = brand.person("Owner").post(URL, body)
    assert answer.status_code == 400, answer.get_data(as_text=True)
    assert platform.calls == []
    assert brand.get(URL).json["items"] == []


@pytest.mark.parametrize("key", ["a\r\nX-Other: 1", "ключ"], ids=["a line", "no ASCII"])
def test_what_cannot_be_sent_to_the_platform_is_refused(brand, platform, key):
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
def test_what_the_platform_does_not_take_is_not_written(brand, platform, fault, status, code):
    platform.faults.append(fault)
    answer = brand.person("Owner").post(URL, build_platform_body(platform))
    assert (answer.status_code, answer.json["error"]) == (status, code)
    assert platform.credentials["apiKey"] not in answer.get_data(as_text=True)
    assert brand.get(URL).json["items"] == []
    connect_platform(brand.person("Owner"), platform)


def test_people_connect_owners_and_admins_with_a_verified_email(brand, platform):
    body = build_platform_body(platform)
    assert brand.post(URL, body).status_code == 403  # an API key
    assert brand.person("Manager").post(URL, body).status_code == 403
    assert brand.person("Admin", is_email_verified=False).post(URL, body).status_code == 403
    assert platform.calls == []
    made = brand.person("Admin").post(URL, body)
    assert made.status_code == 201

    path = f"{URL}/{made.json['id']}"
    for method, address in (("PATCH", path), ("DELETE", path), ("POST", f"{path}/check")):
        assert brand.call(method, address, {"creditSales": False}).status_code == 403
        assert brand.person("Manager").call(method, address, {"creditSales": False}).status_code == 403


def test_reading_takes_the_starter_plan(brand):
    brand.set(plan="Free")
    for path in (URL, f"{URL}/catalogue"):
        assert brand.get(path).status_code == 402


def test_a_second_one_is_refused_before_the_platform_is_asked(brand, rival, platform):
    owner = brand.person("Owner")
    connect_platform(owner, platform)
    asked = len(platform.calls)
    again = owner.post(URL, build_platform_body(platform))
    assert (again.status_code, again.json["error"]) == (409, "platform_already_connected")
    assert len(platform.calls) == asked
    connect_platform(rival.person("Owner"), platform)


def test_twins_leave_one_connection(brand, platform):
    owner, statuses = brand.person("Owner"), []
    run_in_threads(4, lambda _: statuses.append(owner.post(URL, build_platform_body(platform)).status_code))
    assert sorted(statuses) == [201, 409, 409, 409]
    assert len(brand.get(URL).json["items"]) == 1


def test_a_repeated_request_gets_the_first_answer_and_asks_nobody(brand, platform):
    owner = brand.person("Owner")
    first = owner.post(URL, build_platform_body(platform), Idempotency_Key="once")
    asked = len(platform.calls)
    again = owner.post(URL, build_platform_body(platform), Idempotency_Key="once")
    assert (again.status_code, again.json, len(platform.calls)) == (201, first.json, asked)


@pytest.mark.parametrize("platform", ["beehiiv", "mailchimp"], indirect=True)
def test_credentials_that_lead_nowhere_are_kept_with_a_warning(brand, platform):
    place = next(field.name for field in platform.platform.fields if not field.secret)
    made = connect_platform(brand.person("Owner"), platform, credentials={**platform.credentials, place: "nobodys"})
    assert (made["status"], made["lastError"].startswith("the key sees no")) == ("Active", True)
    mended = brand.person("Owner").call(
        "PATCH", f"{URL}/{made['id']}", {"credentials": {place: platform.credentials[place]}}
    )
    assert (mended.status_code, mended.json["lastError"]) == (200, None)
