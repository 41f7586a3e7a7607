"""Webhook endpoints and their deliveries, through HTTP; deliveries reach a real HTTPS receiver."""

import re

import pytest

import settings
from domain.webhooks import events
from models import db

URL = "/api/v1/webhooks"
HOOK = "https://localhost/hook"


def _create(brand, **fields):
    return brand.post(URL, {"url": HOOK, "events": ["*"]} | fields)


@pytest.fixture
def _public_only(monkeypatch):
    """The policy that a real installation has."""
    monkeypatch.setenv("WEBHOOK_ALLOW_PRIVATE", "off")
    settings.current.cache_clear()
    yield
    monkeypatch.undo()
    settings.current.cache_clear()


def test_new_endpoint_returns_its_secret_once(brand):
    answer = _create(brand, events=["payout.paid", "conversion.created", "payout.paid"], description="Ledger")

    view = dict(answer.json)
    secret = view.pop("secret")
    assert answer.status_code == 201
    assert re.fullmatch(r"whsec_[A-Za-z0-9_-]{43}", secret)
    assert {name: view[name] for name in ("url", "events", "description")} == {
        "url": HOOK,
        "events": ["payout.paid", "conversion.created"],
        "description": "Ledger",
    }
    assert brand.get(f"{URL}/{view['id']}").json == view
    assert brand.get(URL).json == {"items": [view], "nextCursor": None, "hasMore": False}


def test_secret_is_stored_only_encrypted(brand):
    created = brand.post(URL, {"url": HOOK, "events": ["*"]}, Idempotency_Key="a").json
    rotated = brand.post(f"{URL}/{created['id']}/rotate-secret", Idempotency_Key="b").json
    replayed = brand.post(f"{URL}/{created['id']}/rotate-secret", Idempotency_Key="b").json

    stored_values = [
        bytes(value)
        for (value,) in brand.rows(
            "select secret_sealed from webhook_endpoint union all select body from stored_answer"
        )
    ]
    written = str(brand.rows("select before, after from audit_entry"))
    assert replayed == rotated
    assert len(stored_values) == 3
    for secret in (created["secret"], rotated["secret"]):
        assert not any(secret.encode() in value for value in stored_values)
        assert secret not in written


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/hook", "https_required"),
        ("ftp://example.com/hook", "https_required"),
        ("nonsense", "invalid_url"),
        ("", "invalid_url"),
        ("https://", "invalid_url"),
        ("https://[", "invalid_url"),
        ("https://exa mple.com/", "invalid_url"),
        ("https://example.com/" + "x" * 3000, "invalid_url"),
        ("https://user:pass@example.com/", "url_not_allowed"),
    ],
)
def test_uncallable_url_is_refused(brand, url, code):
    answer = _create(brand, url=url)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, "url")
    assert brand.rows("select count(*) from webhook_endpoint") == [(0,)]


@pytest.mark.usefixtures("_public_only")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "2130706433", "example.com:22"]
)
def test_private_network_url_is_refused(brand, host):
    created = _create(brand, url=f"https://{host}/hook")

    assert (created.status_code, created.json["error"]) == (400, "url_not_allowed")


@pytest.mark.parametrize("url", ["http://localhost:3000/hook", "http://127.0.0.1/", "http://[::1]:8080/a?b=c"])
def test_local_http_url_is_accepted_with_private_addresses_allowed(brand, url):
    created = _create(brand, url=url)

    assert (created.status_code, created.json["url"]) == (201, url)


@pytest.mark.usefixtures("_public_only")
@pytest.mark.parametrize("host", ["localhost:3000", "127.0.0.1", "[::1]", "example.com"])
def test_local_http_url_is_refused_by_default(brand, host):
    created = _create(brand, url=f"http://{host}/hook")

    assert (created.status_code, created.json["error"]) == (400, "https_required")


def test_dns_is_resolved_outside_transactions(brand, monkeypatch):
    lookups = []

    def record_lookup(url, policy):
        lookups.append((url, db.in_transaction()))

    endpoint_id = _create(brand).json["id"]
    monkeypatch.setattr("pipelines.webhooks.manage.client.check_url", record_lookup)
    _create(brand, url="https://localhost/a")
    brand.call("PATCH", f"{URL}/{endpoint_id}", {"url": "https://localhost/b"})

    assert lookups == [("https://localhost/a", False), ("https://localhost/b", False)]


def test_unknown_event_is_named(brand):
    answer = _create(brand, events=["conversion.created", "campaign_coupon.*", "nope"])

    assert (answer.status_code, answer.json["error"]) == (400, "unknown_event")
    assert answer.json["valid"] == ["*", *events.TYPES]
    assert "conversion.adjusted" in answer.json["message"]
    assert answer.json["invalid"] == ["campaign_coupon.*", "nope"]


def test_every_type_can_be_subscribed_to(brand):
    assert _create(brand, events=list(events.TYPES)).json["events"] == list(events.TYPES)


def test_url_is_unique_per_organization(brand, rival):
    first, again, by_rival = _create(brand), _create(brand, events=["payout.paid"]), _create(rival)

    assert (first.status_code, by_rival.status_code) == (201, 201)
    assert (again.status_code, again.json["error"]) == (400, "endpoint_already_exists")


def test_url_of_a_deleted_endpoint_can_be_subscribed_again(brand):
    brand.call("DELETE", f"{URL}/{_create(brand).json['id']}")

    assert _create(brand).status_code == 201


def test_organization_has_at_most_twenty_endpoints(brand):
    created = [_create(brand, url=f"{HOOK}/{number}") for number in range(20)]

    refused = _create(brand, url=f"{HOOK}/20")
    brand.call("DELETE", f"{URL}/{created[0].json['id']}")
    room = _create(brand, url=f"{HOOK}/20")

    assert {answer.status_code for answer in created} == {201}
    assert (refused.status_code, refused.json["error"]) == (400, "webhook_limit_reached")
    assert room.status_code == 201


@pytest.mark.parametrize(
    "fields",
    [
        {"url": None},
        {"url": 5},
        {"url": ["https://localhost"]},
        {"url": "https://localhost/\x00"},
        {"events": None},
        {"events": []},
        {"events": "*"},
        {"events": {"a": 1}},
        {"events": [5]},
        {"events": [None]},
        {"events": ["*"] * 101},
        {"events": ["x" * 101]},
        {"events": ["nul\x00"]},
        {"description": "x" * 501},
        {"description": 7},
        {"description": "nul\x00"},
    ],
)
@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_malformed_field_is_named_in_problem_details(brand, verb, fields):
    if verb == "POST":
        answer = _create(brand, **fields)
    else:
        answer = brand.call("PATCH", f"{URL}/{_create(brand).json['id']}", fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"null"])
def test_non_object_body_returns_400(brand, raw):
    assert brand.post(URL, raw).status_code == 400


def test_patch_changes_only_sent_fields(brand):
    created = _create(brand, description="Ledger").json

    described = brand.call("PATCH", f"{URL}/{created['id']}", {"description": None})
    moved = brand.call("PATCH", f"{URL}/{created['id']}", {"url": f"{HOOK}/2", "events": ["payout.paid"]})
    unchanged = brand.call("PATCH", f"{URL}/{created['id']}", {})

    assert (described.status_code, described.json["description"], described.json["url"]) == (200, None, HOOK)
    assert (moved.json["url"], moved.json["events"]) == (f"{HOOK}/2", ["payout.paid"])
    assert unchanged.status_code == 200
    assert "secret" not in moved.json
    assert brand.get(f"{URL}/{created['id']}").json == unchanged.json


def test_patch_obeys_the_rules_of_creation(brand):
    first, second = _create(brand).json["id"], _create(brand, url=f"{HOOK}/2").json["id"]

    duplicate = brand.call("PATCH", f"{URL}/{second}", {"url": HOOK})
    same = brand.call("PATCH", f"{URL}/{first}", {"url": HOOK})
    insecure = brand.call("PATCH", f"{URL}/{second}", {"url": "http://example.com/"})
    unknown = brand.call("PATCH", f"{URL}/{second}", {"events": ["nope"]})

    assert (duplicate.status_code, duplicate.json["error"]) == (400, "endpoint_already_exists")
    assert same.status_code == 200
    assert (insecure.status_code, insecure.json["error"]) == (400, "https_required")
    assert (unknown.status_code, unknown.json["error"], unknown.json["invalid"]) == (400, "unknown_event", ["nope"])
    assert brand.get(f"{URL}/{second}").json["url"] == f"{HOOK}/2"


def test_repeated_idempotency_key_creates_one_endpoint(brand):
    body = {"url": HOOK, "events": ["*"]}

    first = brand.post(URL, body, Idempotency_Key="once")
    again = brand.post(URL, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (201, first.json)
    assert brand.rows("select count(*) from webhook_endpoint") == [(1,)]
