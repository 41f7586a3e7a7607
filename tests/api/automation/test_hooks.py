"""Hooks of no-code platforms, through HTTP: subscribing and unsubscribing are idempotent."""

import re
import secrets
from uuid import UUID, uuid4

import settings
from domain.webhooks import events
from tests.support.databases import run_as_brand
from tests.support.rows.brands import Brand
from tests.support.threads import run_in_threads

URL = "/api/v1/automation/hooks"
ENDPOINTS = "/api/v1/webhooks"
HOOK = "https://localhost/zap"


def _subscribe(brand, event="conversion.created", url=HOOK, **headers):
    return brand.post(URL, {"event": event, "targetUrl": url}, **headers)


def _list_active_hooks(brand):
    return brand.rows("select id, url, events from webhook_endpoint where deleted_at is null order by created_at, id")


def test_hook_returns_its_secret_once_and_is_in_the_endpoint_list(brand):
    response = _subscribe(brand)

    hook = dict(response.json)
    assert response.status_code == 201
    assert re.fullmatch(r"whsec_[A-Za-z0-9_-]{43}", hook.pop("secret"))
    assert set(hook) == {"id", "event", "createdAt"}
    assert hook["event"] == "conversion.created"
    (listed,) = brand.get(ENDPOINTS).json["items"]
    assert (listed["id"], listed["url"], listed["events"], listed["managedBy"]) == (
        hook["id"],
        HOOK,
        ["conversion.created"],
        "automation",
    )


def test_repeated_event_and_url_return_the_same_hook_without_secret(brand, rival):
    first, again = _subscribe(brand), _subscribe(brand)
    other_event, other_tenant = _subscribe(brand, event="payout.paid"), _subscribe(rival)

    assert (again.status_code, again.json) == (200, {k: v for k, v in first.json.items() if k != "secret"})
    assert [answer.status_code for answer in (other_event, other_tenant)] == [201, 201]
    assert len({answer.json["id"] for answer in (first, other_event, other_tenant)}) == 3


def test_repeated_idempotency_key_returns_the_first_response(brand):
    first, again = _subscribe(brand, Idempotency_Key="on"), _subscribe(brand, Idempotency_Key="on")

    assert (again.status_code, again.json) == (201, first.json)
    assert len(_list_active_hooks(brand)) == 1


def test_concurrent_subscriptions_create_one_hook(brand):
    answers = []
    run_in_threads(6, lambda _: answers.append(_subscribe(brand)))

    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [201]
    assert len({answer.json["id"] for answer in answers}) == len(_list_active_hooks(brand)) == 1
    assert brand.rows("select action from audit_entry") == [("webhook_endpoint.created",)]


def test_only_triggers_can_be_subscribed_to(brand):
    assert {event: _subscribe(brand, event=event).status_code for event in events.TESTABLE} == dict.fromkeys(
        events.TESTABLE, 201
    )
    for event in ("*", "test", "conversion.denied", "conversion.*", "conversion_created", ""):
        refused = _subscribe(brand, event=event)
        assert (refused.status_code, refused.json["error"], refused.json["invalid"]) == (
            400,
            "unknown_event",
            [event],
        ), event
        assert refused.json["valid"] == list(events.TESTABLE)


def test_malformed_field_is_named_and_no_hook_is_created(brand):
    valid_body = {"event": "payout.paid", "targetUrl": HOOK}
    malformed = [("event", value) for value in (None, 5, ["payout.paid"], {}, "x" * 101, "payout.paid\x00")]
    malformed += [("targetUrl", value) for value in (None, 5, [HOOK], {}, f"{HOOK}\x00", "x" * 70_000)]
    for field, value in malformed:
        answer = brand.post(URL, valid_body | {field: value})
        expected = 413 if isinstance(value, str) and len(value) > 65_536 else 400
        assert answer.status_code == expected, (field, value)
        if expected == 400:
            assert list(answer.json["errors"]) == [field], (field, value)
    for field in valid_body:
        assert list(brand.post(URL, {k: v for k, v in valid_body.items() if k != field}).json["errors"]) == [field]
    for raw in (b"", b"[]", b"{", b"null", b"\xff", b'{"event":"payout.paid","event":"payout.paid"}'):
        assert brand.post(URL, raw).status_code == 400, raw
    assert _list_active_hooks(brand) == []


def test_target_url_follows_the_webhook_rules(brand, monkeypatch):
    for url, code in [
        ("http://example.com/hook", "https_required"),
        ("ftp://example.com/hook", "https_required"),
        ("nonsense", "invalid_url"),
        ("", "invalid_url"),
        ("https://example.com/" + "x" * 3000, "invalid_url"),
        ("https://user:pass@example.com/", "url_not_allowed"),
    ]:
        refused = _subscribe(brand, url=url)
        assert (refused.status_code, refused.json["error"], refused.json["field"]) == (400, code, "targetUrl"), url
    monkeypatch.setenv("WEBHOOK_ALLOW_PRIVATE", "off")
    settings.current.cache_clear()
    try:
        for host in ("127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]", "[fd00::1]", "2130706433"):
            refused = _subscribe(brand, url=f"https://{host}/hook")
            assert (refused.status_code, refused.json["error"]) == (400, "url_not_allowed"), host
    finally:
        monkeypatch.undo()
        settings.current.cache_clear()
    assert _list_active_hooks(brand) == []


def test_url_of_maximum_length_is_stored(brand):
    url = "https://localhost/".ljust(2048, "a")[:1000] + secrets.token_hex(524)

    assert len(url) == 2048
    assert [_subscribe(brand, url=url).status_code for _ in range(2)] == [201, 200]


def test_hooks_have_their_own_cap(brand):
    standing = _subscribe(brand)
    run_as_brand(
        brand,
        "insert into webhook_endpoint (id, organization_id, url, events, secret_sealed, managed_by)"
        " select gen_random_uuid(), organization_id, url || n, events, secret_sealed, managed_by"
        " from webhook_endpoint, generate_series(1, 199) n where id = %s",
        standing.json["id"],
    )

    refused = _subscribe(brand, url=f"{HOOK}/one-more")
    assert (refused.status_code, refused.json["error"]) == (409, "webhook_limit_reached")
    assert _subscribe(brand).status_code == 200
    assert brand.post(ENDPOINTS, {"url": HOOK, "events": ["*"]}).status_code == 201
    assert brand.call("DELETE", f"{URL}/{standing.json['id']}").status_code == 204
    answers = []
    run_in_threads(4, lambda number: answers.append(_subscribe(brand, url=f"{HOOK}/more-{number}").status_code))
    assert sorted(answers) == [201, 409, 409, 409]


def test_brand_endpoints_do_not_count_against_the_hook_cap(brand):
    statuses = [brand.post(ENDPOINTS, {"url": f"{HOOK}/{number}", "events": ["*"]}).status_code for number in range(20)]

    assert set(statuses) == {201}
    assert _subscribe(brand, url=f"{HOOK}/0").status_code == 201
    assert brand.post(ENDPOINTS, {"url": f"{HOOK}/20", "events": ["*"]}).json["error"] == "webhook_limit_reached"


def test_repeated_unsubscribe_succeeds_and_affects_only_its_hook(brand, rival):
    own_hook_id, rival_hook_id = _subscribe(brand).json["id"], _subscribe(rival).json["id"]
    endpoint_id = brand.post(ENDPOINTS, {"url": HOOK, "events": ["*"]}).json["id"]

    for hook_id in (own_hook_id, own_hook_id, rival_hook_id, endpoint_id, str(uuid4()), "x", "%00", "9" * 3000):
        assert brand.call("DELETE", f"{URL}/{hook_id}").status_code == 204, hook_id

    assert [str(id) for id, *_ in _list_active_hooks(brand)] == [endpoint_id]
    assert [str(id) for id, *_ in _list_active_hooks(rival)] == [rival_hook_id]
    deleted = "select entity_id, before ->> 'managedBy' from audit_entry where action = 'webhook_endpoint.deleted'"
    assert brand.rows(deleted) == [(own_hook_id, "automation")]
    again = _subscribe(brand)
    assert (again.status_code, again.json["id"] != own_hook_id) == (201, True)


def test_concurrent_unsubscribes_end_the_hook_once(brand):
    hook_id, answers = _subscribe(brand).json["id"], []
    run_in_threads(4, lambda _: answers.append(brand.call("DELETE", f"{URL}/{hook_id}").status_code))

    assert answers == [204] * 4
    assert brand.rows("select count(*) from audit_entry where action = 'webhook_endpoint.deleted'") == [(1,)]


def test_subscribe_and_unsubscribe_check_role_scope_and_plan(app, brand):
    hook_id, reader = _subscribe(brand).json["id"], brand.other_key(scope="read")
    assert [_subscribe(reader).status_code, reader.call("DELETE", f"{URL}/{hook_id}").status_code] == [403, 403]
    viewer = brand.person("Viewer")
    assert [_subscribe(viewer).status_code, viewer.call("DELETE", f"{URL}/{hook_id}").status_code] == [403, 403]
    stranger = Brand(app, brand.id, "nonsense", "")
    assert [_subscribe(stranger).status_code, stranger.call("DELETE", f"{URL}/{hook_id}").status_code] == [401, 401]

    brand.set(plan="Free")
    refused = _subscribe(brand, event="payout.paid")
    assert (refused.status_code, refused.json["error"]) == (402, "plan_tier_required")
    assert len(_list_active_hooks(brand)) == 1
    assert brand.call("DELETE", f"{URL}/{hook_id}").status_code == 204
    assert _list_active_hooks(brand) == []


def test_hooks_outlive_their_revoked_key(brand):
    passing = brand.other_key()
    hook_id = _subscribe(passing).json["id"]
    brand.rows("update api_key set revoked_at = now() where created_at = (select max(created_at) from api_key)"
               " returning id")  # fmt: skip

    assert _subscribe(passing, event="payout.paid").status_code == 401
    assert [id for id, *_ in _list_active_hooks(brand)] == [UUID(hook_id)]


def test_endpoint_routes_can_delete_but_not_change_a_hook(brand):
    hook_id = _subscribe(brand).json["id"]
    unmanaged = brand.post(ENDPOINTS, {"url": HOOK, "events": ["*"]}).json
    url = f"{ENDPOINTS}/{hook_id}"

    for answer in (
        brand.call("PATCH", url, {"events": ["*"]}),
        brand.call("PATCH", url, {"url": "https://localhost/b"}),
        brand.post(f"{url}/rotate-secret"),
    ):
        assert (answer.status_code, answer.json["error"]) == (409, "endpoint_is_managed")
    assert unmanaged["managedBy"] is None
    lists = {query: [endpoint["id"] for endpoint in brand.get(f"{ENDPOINTS}{query}").json["items"]] for query in (
        "", "?managed=true", "?managed=false")}  # fmt: skip
    assert lists == {"": [unmanaged["id"], hook_id], "?managed=true": [hook_id], "?managed=false": [unmanaged["id"]]}
    assert brand.get(f"{ENDPOINTS}?managed=yes").status_code == 400
    assert brand.call("DELETE", url).status_code == 204
    assert [str(id) for id, *_ in _list_active_hooks(brand)] == [unmanaged["id"]]


def test_hook_test_accepts_only_its_event(brand):
    url = f"{ENDPOINTS}/{_subscribe(brand).json['id']}/test"

    for body in ({}, {"type": "test"}, {"type": "payout.paid"}):
        refused = brand.post(url, body)
        assert (refused.status_code, refused.json["error"]) == (400, "event_not_subscribed"), body
    assert brand.post(url, {"type": "conversion.created"}).status_code == 200
