"""Webhook endpoints and their deliveries, through HTTP; deliveries reach a real HTTPS receiver."""

import hashlib
import hmac
import re
from uuid import uuid4

import pytest

import settings
from domain import events
from models import db
from tests import receiver as receivers
from tests.api.lists import cursors_are_refused, trips_of

URL = "/api/v1/webhooks"
HOOK = "https://localhost/hook"
NOBODY = "01890000-0000-7000-8000-000000000000"


def _create(brand, **fields):
    return brand.post(URL, {"url": HOOK, "events": ["*"]} | fields)


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint of the brand that leads to the receiver and hears everything."""
    return brand.endpoint(receiver.url)


@pytest.fixture
def _public_only(monkeypatch):
    """The policy that a real installation has."""
    monkeypatch.setenv("WEBHOOK_ALLOW_PRIVATE", "off")
    settings.current.cache_clear()
    yield
    monkeypatch.undo()
    settings.current.cache_clear()


def test_a_new_endpoint_shows_its_secret_once(brand):
    answer = _create(brand, events=["payout.paid", "conversion.created", "payout.paid"], description="Ledger")

    shown = dict(answer.json)
    secret = shown.pop("secret")
    assert answer.status_code == 201
    assert re.fullmatch(r"whsec_[A-Za-z0-9_-]{43}", secret)
    assert {name: shown[name] for name in ("url", "events", "description")} == {
        "url": HOOK,
        "events": ["payout.paid", "conversion.created"],
        "description": "Ledger",
    }
    assert brand.get(f"{URL}/{shown['id']}").json == shown
    assert brand.get(URL).json == {"items": [shown], "nextCursor": None, "hasMore": False}


def test_a_secret_is_nowhere_in_the_database_in_clear(brand):
    created = brand.post(URL, {"url": HOOK, "events": ["*"]}, Idempotency_Key="a").json
    rotated = brand.post(f"{URL}/{created['id']}/rotate-secret", Idempotency_Key="b").json
    replayed = brand.post(f"{URL}/{created['id']}/rotate-secret", Idempotency_Key="b").json

    kept = [
        bytes(value)
        for (value,) in brand.rows(
            "select secret_sealed from webhook_endpoint union all select body from stored_answer"
        )
    ]
    written = str(brand.rows("select before, after from audit_entry"))
    assert replayed == rotated
    assert len(kept) == 3
    for secret in (created["secret"], rotated["secret"]):
        assert not any(secret.encode() in value for value in kept)
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
def test_a_url_that_cannot_be_called_is_refused(brand, url, code):
    answer = _create(brand, url=url)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, "url")
    assert brand.rows("select count(*) from webhook_endpoint") == [(0,)]


@pytest.mark.usefixtures("_public_only")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "2130706433", "example.com:22"]
)
def test_a_url_into_a_private_network_is_refused(brand, host):
    created = _create(brand, url=f"https://{host}/hook")

    assert (created.status_code, created.json["error"]) == (400, "url_not_allowed")


def test_dns_is_asked_outside_of_any_transaction(brand, monkeypatch):
    asked = []

    def look(url, policy):
        asked.append((url, db.in_transaction()))

    endpoint_id = _create(brand).json["id"]
    monkeypatch.setattr("pipelines.endpoints.safe_http.check_url", look)
    _create(brand, url="https://localhost/a")
    brand.call("PATCH", f"{URL}/{endpoint_id}", {"url": "https://localhost/b"})

    assert asked == [("https://localhost/a", False), ("https://localhost/b", False)]


def test_an_unknown_event_is_refused_by_name(brand):
    answer = _create(brand, events=["conversion.created", "campaign_coupon.*", "nope"])

    assert (answer.status_code, answer.json["error"]) == (400, "unknown_event")
    assert answer.json["invalid"] == ["campaign_coupon.*", "nope"]


def test_every_type_can_be_subscribed_to(brand):
    assert _create(brand, events=list(events.TYPES)).json["events"] == list(events.TYPES)


def test_a_url_is_subscribed_once_per_organization(brand, rival):
    first, again, elsewhere = _create(brand), _create(brand, events=["payout.paid"]), _create(rival)

    assert (first.status_code, elsewhere.status_code) == (201, 201)
    assert (again.status_code, again.json["error"]) == (400, "endpoint_already_exists")


def test_a_deleted_url_can_be_subscribed_again(brand):
    brand.call("DELETE", f"{URL}/{_create(brand).json['id']}")

    assert _create(brand).status_code == 201


def test_an_organization_has_twenty_endpoints_at_most(brand):
    made = [_create(brand, url=f"{HOOK}/{number}") for number in range(20)]

    refused = _create(brand, url=f"{HOOK}/20")
    brand.call("DELETE", f"{URL}/{made[0].json['id']}")
    room = _create(brand, url=f"{HOOK}/20")

    assert {answer.status_code for answer in made} == {201}
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
def test_a_malformed_field_is_named_in_problem_details(brand, verb, fields):
    if verb == "POST":
        answer = _create(brand, **fields)
    else:
        answer = brand.call("PATCH", f"{URL}/{_create(brand).json['id']}", fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"null"])
def test_what_is_no_object_is_refused(brand, raw):
    assert brand.post(URL, raw).status_code == 400


def test_a_change_sets_what_was_sent(brand):
    created = _create(brand, description="Ledger").json

    described = brand.call("PATCH", f"{URL}/{created['id']}", {"description": None})
    moved = brand.call("PATCH", f"{URL}/{created['id']}", {"url": f"{HOOK}/2", "events": ["payout.paid"]})
    nothing = brand.call("PATCH", f"{URL}/{created['id']}", {})

    assert (described.status_code, described.json["description"], described.json["url"]) == (200, None, HOOK)
    assert (moved.json["url"], moved.json["events"]) == (f"{HOOK}/2", ["payout.paid"])
    assert nothing.status_code == 200
    assert "secret" not in moved.json
    assert brand.get(f"{URL}/{created['id']}").json == nothing.json


def test_a_change_keeps_to_the_rules_of_creation(brand):
    first, second = _create(brand).json["id"], _create(brand, url=f"{HOOK}/2").json["id"]

    taken = brand.call("PATCH", f"{URL}/{second}", {"url": HOOK})
    same = brand.call("PATCH", f"{URL}/{first}", {"url": HOOK})
    insecure = brand.call("PATCH", f"{URL}/{second}", {"url": "http://localhost/"})
    unknown = brand.call("PATCH", f"{URL}/{second}", {"events": ["nope"]})

    assert (taken.status_code, taken.json["error"]) == (400, "endpoint_already_exists")
    assert same.status_code == 200
    assert (insecure.status_code, insecure.json["error"]) == (400, "https_required")
    assert (unknown.status_code, unknown.json["error"], unknown.json["invalid"]) == (400, "unknown_event", ["nope"])
    assert brand.get(f"{URL}/{second}").json["url"] == f"{HOOK}/2"


def test_a_deleted_endpoint_is_gone_and_is_told_nothing(brand, endpoint, receiver, drain):
    brand.program()
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "a@x.test"})

    deleted = brand.call("DELETE", f"{URL}/{endpoint['id']}")
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "b@x.test"})
    drain()

    assert (deleted.status_code, deleted.data) == (204, b"")
    assert receiver.received == []
    assert brand.get(URL).json["items"] == []
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")):
        assert brand.call(method, f"{URL}/{endpoint['id']}{path}", {}).status_code == 404


def test_every_write_is_audited(brand, endpoint, drain):
    url = f"{URL}/{endpoint['id']}"
    brand.call("PATCH", url, {"events": ["payout.paid"]})
    brand.post(f"{url}/rotate-secret")
    delivery_id = brand.post(f"{url}/test").json["deliveryId"]
    drain()
    brand.post(f"{url}/deliveries/{delivery_id}/redeliver")
    brand.call("DELETE", url)

    rows = brand.rows(
        "select action, entity_id, before->'events', after->'events' from audit_entry order by created_at"
    )
    assert rows == [
        ("webhook_endpoint.created", endpoint["id"], None, ["*"]),
        ("webhook_endpoint.updated", endpoint["id"], ["*"], ["payout.paid"]),
        ("webhook_endpoint.secret_rotated", endpoint["id"], None, None),
        ("webhook_endpoint.tested", endpoint["id"], None, None),
        ("delivery.redelivered", delivery_id, None, None),
        ("webhook_endpoint.deleted", endpoint["id"], ["payout.paid"], None),
    ]


def test_a_rotated_secret_signs_from_now_on(brand, endpoint, receiver, drain):
    rotated = brand.post(f"{URL}/{endpoint['id']}/rotate-secret")
    brand.post(f"{URL}/{endpoint['id']}/test")
    drain()

    (received,) = receiver.received
    assert rotated.status_code == 200
    assert rotated.json["secret"] != endpoint["secret"]
    assert _is_signed(received, rotated.json["secret"])
    assert not _is_signed(received, endpoint["secret"])


@pytest.mark.parametrize("body", [None, {}, {"type": None}, {"type": ""}, {"type": "test"}])
def test_a_test_without_a_type_is_the_generic_one(brand, endpoint, receiver, drain, body):
    answer = brand.post(f"{URL}/{endpoint['id']}/test", body)
    drain()

    (received,) = receiver.received
    assert answer.status_code == 200
    assert received.headers["x-service-delivery-id"] == answer.json["deliveryId"]
    assert received.headers["x-service-event"] == received.event["type"] == "test"
    assert received.event["id"] == answer.json["eventId"]
    assert received.event["organizationId"] == str(brand.id)
    assert _is_signed(received, endpoint["secret"])


@pytest.mark.parametrize("type", events.TESTABLE)
def test_a_trigger_event_has_a_sample(brand, receiver, drain, type):
    told = brand.endpoint(receiver.url, [type])
    brand.endpoint(f"{receiver.url}/other", ["*"])

    answer = brand.post(f"{URL}/{told['id']}/test", {"type": type})
    drain()

    assert answer.status_code == 200
    assert [event["type"] for event in receiver.events] == [type]
    assert receiver.events[0]["data"] == events.sample(type)


@pytest.mark.parametrize(
    ("type", "code"),
    [
        ("payout.paid", "event_not_subscribed"),
        ("conversion.denied", "unknown_event"),
        ("deal.funded", "unknown_event"),
        ("*", "unknown_event"),
        ("nope", "unknown_event"),
    ],
)
def test_a_test_of_something_else_is_refused(brand, type, code):
    endpoint_id = _create(brand, events=["conversion.created", "conversion.denied"]).json["id"]

    answer = brand.post(f"{URL}/{endpoint_id}/test", {"type": type})

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from delivery") == [(0,)]


@pytest.mark.parametrize("body", [[], {"type": 5}, {"type": ["test"]}, {"type": "x" * 101}, b"{"])
def test_a_malformed_test_is_refused(brand, endpoint, body):
    assert brand.post(f"{URL}/{endpoint['id']}/test", body).status_code == 400


def test_a_delivery_is_in_the_history(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(503, b"busy " * 200, Retry_After="60")]
    sent = brand.post(f"{URL}/{endpoint['id']}/test").json

    waiting = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]
    drain()
    tried = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]

    assert set(tried) == {
        "id", "eventId", "eventType", "status", "attemptCount", "responseStatus", "responseExcerpt", "failureReason",
        "nextAttemptAt", "createdAt", "settledAt",
    }  # fmt: skip
    assert (waiting["id"], waiting["eventId"], waiting["eventType"]) == (sent["deliveryId"], sent["eventId"], "test")
    assert (waiting["status"], waiting["attemptCount"], waiting["responseStatus"]) == ("Pending", 0, None)
    assert (tried["status"], tried["attemptCount"], tried["responseStatus"]) == ("Pending", 1, 503)
    assert tried["responseExcerpt"] == ("busy " * 100)
    assert tried["nextAttemptAt"].endswith("Z")
    assert tried["settledAt"] is None


def test_the_history_has_fifty_rows_per_page(brand, rival):
    endpoint_id = _create(brand).json["id"]
    other_id = _create(brand, url=f"{HOOK}/2").json["id"]
    rival_id = _create(rival).json["id"]
    sent = [brand.post(f"{URL}/{endpoint_id}/test").json["deliveryId"] for _ in range(52)]
    for owner, id in ((brand, other_id), (brand, other_id), (rival, rival_id), (rival, rival_id)):
        owner.post(f"{URL}/{id}/test")
    url = f"{URL}/{endpoint_id}/deliveries"

    first = brand.get(f"{url}?take=200").json
    second = brand.get(f"{url}?cursor={first['nextCursor']}").json

    assert [row["id"] for row in first["items"]] == sent[:1:-1]
    assert [row["id"] for row in second["items"]] == sent[1::-1]
    assert (second["hasMore"], second["nextCursor"]) == (False, None)
    cursors_are_refused(
        brand, url, foreign=(rival, f"{URL}/{rival_id}/deliveries"), other=(brand, f"{URL}/{other_id}/deliveries")
    )


def test_a_settled_delivery_is_sent_once_more_under_its_id(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(200), receivers.status(500)]
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()

    answer = brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    again = brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    drain()

    row = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]
    assert (answer.status_code, answer.json) == (200, {"deliveryId": delivery_id})
    assert (again.status_code, again.json["error"]) == (409, "invalid_status_transition")
    assert [received.headers["x-service-delivery-id"] for received in receiver.received] == [delivery_id] * 2
    assert receiver.received[0].body == receiver.received[1].body
    assert (row["status"], row["attemptCount"], row["responseStatus"]) == ("Failed", 2, 500)
    assert brand.rows("select count(*) from job where name = 'webhook.deliver'") == [(0,)]


def test_a_delivery_belongs_to_its_endpoint(brand, rival, endpoint, drain):
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()
    other_id, rival_id = _create(brand).json["id"], _create(rival).json["id"]

    through_another = brand.post(f"{URL}/{other_id}/deliveries/{delivery_id}/redeliver")
    by_a_rival = rival.post(f"{URL}/{rival_id}/deliveries/{delivery_id}/redeliver")
    no_id = brand.post(f"{URL}/{endpoint['id']}/deliveries/latest/redeliver")

    assert [answer.status_code for answer in (through_another, by_a_rival, no_id)] == [404, 404, 404]


@pytest.mark.parametrize("whose", ["a rival's", "nobody's", "no id"])
def test_an_endpoint_of_somebody_else_is_not_found(brand, rival, whose):
    theirs = _create(rival).json
    url = f"{URL}/" + {"a rival's": theirs["id"], "nobody's": NOBODY, "no id": "x"}[whose]

    answers = [
        brand.get(url),
        brand.call("PATCH", url, {"events": "malformed"}),
        brand.call("DELETE", url),
        brand.post(f"{url}/rotate-secret"),
        brand.post(f"{url}/test", {"type": 5}),
        brand.get(f"{url}/deliveries"),
        brand.post(f"{url}/deliveries/{uuid4()}/redeliver"),
    ]

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(404, "not_found")}
    assert rival.get(f"{URL}/{theirs['id']}").json["updatedAt"] == theirs["updatedAt"]


def test_the_list_walks_all_endpoints(brand, rival):
    made = [_create(brand, url=f"{HOOK}/{number}").json["id"] for number in range(3)]
    for number in range(2):
        _create(rival, url=f"{HOOK}/{number}")
        brand.program()

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert [item["id"] for item in first["items"] + second["items"]] == made[::-1]
    cursors_are_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/programs"))


def test_lists_cost_the_same_for_one_row_and_for_many(brand):
    endpoint_id = _create(brand).json["id"]
    brand.post(f"{URL}/{endpoint_id}/test")
    lists = (URL, f"{URL}/{endpoint_id}/deliveries")
    one = [trips_of(lambda url=url: brand.get(url)) for url in lists]
    for number in range(9):
        _create(brand, url=f"{HOOK}/{number}")
        brand.post(f"{URL}/{endpoint_id}/test")

    assert [trips_of(lambda url=url: brand.get(url)) for url in lists] == one


def test_a_lapsed_plan_keeps_its_endpoints(brand, endpoint, receiver, drain):
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()
    brand.set(plan="Free")
    url = f"{URL}/{endpoint['id']}"

    gated = [
        _create(brand),
        brand.call("PATCH", url, {"events": ["*"]}),
        brand.post(f"{url}/rotate-secret"),
        brand.post(f"{url}/test"),
    ]
    open = [
        brand.get(URL),
        brand.get(url),
        brand.get(f"{url}/deliveries"),
        brand.post(f"{url}/deliveries/{delivery_id}/redeliver"),
    ]

    assert {(answer.status_code, answer.json["error"]) for answer in gated} == {(402, "plan_tier_required")}
    assert {answer.status_code for answer in open} == {200}
    assert brand.call("DELETE", url).status_code == 204


def test_a_reading_key_writes_nothing(brand, endpoint):
    reader, url = brand.other_key(scope="read"), f"{URL}/{endpoint['id']}"

    assert reader.get(url).status_code == 200
    for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/rotate-secret"), ("POST", "/test")):
        assert reader.call(method, f"{url}{path}", {}).status_code == 403
    assert _create(reader).status_code == 403


def test_a_repeated_creation_with_a_key_makes_one_endpoint(brand):
    body = {"url": HOOK, "events": ["*"]}

    first = brand.post(URL, body, Idempotency_Key="once")
    again = brand.post(URL, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (201, first.json)
    assert brand.rows("select count(*) from webhook_endpoint") == [(1,)]


def _is_signed(received, secret):
    t, v1 = (part.split("=")[1] for part in received.headers["x-service-signature"].split(","))
    return hmac.compare_digest(
        v1, hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()
    )
