"""Rate limits on a real server, shared by processes, and off while that server is away."""

import time
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

import settings
from adapters import servers
from api.access import limits
from api.access.limits import Limiter

_AWAY = "unix:///nowhere/valkey.sock?db=0"


def _limiter(redis_url: str | None = None) -> Limiter:
    few = {"standard": 3, "s2s": 2, "apply": 2, "unknown": 100}
    ones = dict.fromkeys(settings.current().web.limits_per_min, 1)
    return Limiter(redis_url or servers.urls().redis_url, ones | few)


def _failed_open() -> float:
    return REGISTRY.get_sample_value("finderfee_rate_limit_failed_open_total") or 0.0


@pytest.fixture
def strict_app(app, monkeypatch):
    """The application with windows of two or three requests."""
    monkeypatch.setitem(app.extensions, "limiter", _limiter())
    return app


def test_two_processes_count_together(app):
    first, second = _limiter(), _limiter()

    allowed = [limiter.allows("standard", "ann") for limiter in (first, second, first, second, first)]

    assert allowed == [True, True, True, False, False]


def test_callers_and_buckets_count_apart(app):
    limiter = _limiter()

    allowed = [limiter.allows("strict_write", caller) for caller in ("ann", "ann", "bob")]

    assert allowed == [True, False, True]
    assert limiter.allows("standard", "ann")


def test_a_server_that_is_away_limits_nobody_and_every_request_is_counted(app):
    limiter, before = _limiter(_AWAY), _failed_open()

    allowed = [limiter.allows("strict_write", "ann") for _ in range(5)]

    assert allowed == [True] * 5
    assert _failed_open() - before == 5


def test_a_server_that_failed_is_left_alone_for_a_while(app, monkeypatch):
    at_s = time.monotonic()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: at_s))
    limiter = _limiter(_AWAY)
    limiter.allows("strict_write", "ann")
    limiter._redis = _limiter()._redis  # the server is back

    while_left_alone = [limiter.allows("strict_write", "ann") for _ in range(3)]
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: at_s + 6))
    afterwards = [limiter.allows("strict_write", "ann") for _ in range(2)]

    assert while_left_alone == [True, True, True]
    assert afterwards == [True, False]


def test_one_request_too_many_is_a_429_without_a_body(strict_app, brand):
    answers = [brand.get("/api/v1/programs") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].data == b""


def test_the_keys_of_one_person_share_a_window_and_other_people_have_their_own(strict_app, brand, rival):
    for caller in (brand, brand, brand.other_key()):
        assert caller.get("/api/v1/programs").status_code == 200

    assert brand.other_key().get("/api/v1/programs").status_code == 429
    assert rival.get("/api/v1/programs").status_code == 200


def test_a_persons_sessions_and_keys_share_one_window(strict_app, brand):
    callers = (brand, brand.person(email="owner@example.com"), brand.person(email="owner@example.com"), brand)

    assert [caller.get("/api/v1/programs").status_code for caller in callers] == [200, 200, 200, 429]


def test_signed_ingest_is_limited_per_address_over_all_keys(strict_app, brand, rival):
    statuses = [caller.sale().status_code for caller in (brand, rival, brand)]

    assert statuses == [400, 400, 429]


def test_a_wrong_key_is_told_so_and_uses_nobodys_window(strict_app, brand):
    client = strict_app.test_client()
    for _ in range(5):
        assert client.get("/api/v1/programs", headers={"Authorization": "Bearer wrong"}).status_code == 401

    assert brand.get("/api/v1/programs").status_code == 200


def test_the_public_form_is_limited_per_address(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": f"10.0.0.{n}"}) for n in (1, 1, 1, 2)]

    assert [answer.status_code for answer in answers] == [404, 404, 429, 404]
    assert answers[2].data == b""


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP"])
def test_no_header_of_a_stranger_says_from_where_they_come(strict_app, brand, header):
    client, path = strict_app.test_client(), f"/api/p/id/{brand.id}/apply"

    answers = [client.post(path, json={}, headers={header: f"10.0.0.{n}"}).status_code for n in (1, 2, 3)]

    assert answers == [404, 404, 429]


def test_the_addresses_of_one_ipv6_network_count_as_one(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"
    addresses = ("2001:db8::1", "2001:db8::2", "2001:db8::ffff:3", "2001:db8:0:1::1")

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": address}) for address in addresses]

    assert [answer.status_code for answer in answers] == [404, 404, 429, 404]


def test_an_ipv4_address_counts_alone_however_it_is_written(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"
    addresses = [f"::ffff:10.0.0.{n}" for n in (1, 2, 3, 4)]

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": address}) for address in addresses]

    assert {answer.status_code for answer in answers} == {404}


def test_the_networks_of_one_ipv6_site_count_together_too(app):
    limiter = _limiter()
    most = 3 * limits.SITE_TIMES

    spread = [limiter.allows("standard", f"2001:db8:7:{n:x}::") for n in range(most + 2)]
    elsewhere = limiter.allows("standard", "2001:db8:8::")

    assert spread == [True] * most + [False] * 2
    assert elsewhere


def test_one_network_cannot_use_up_its_whole_site(app):
    limiter = _limiter()

    greedy = [limiter.allows("standard", "2001:db8:7:1::") for _ in range(3 * limits.SITE_TIMES + 10)]

    assert sum(greedy) == 3
    assert limiter.allows("standard", "2001:db8:7:2::")


def test_a_request_from_an_ipv6_network_is_counted_in_one_round_trip(app, monkeypatch):
    limiter, asked = _limiter(), []
    ask = limiter._redis.send
    monkeypatch.setattr(limiter._redis, "send", lambda *command: asked.append(command) or ask(*command))
    limiter.allows("standard", "2001:db8:7:1::")
    asked.clear()

    limiter.allows("standard", "2001:db8:7:1::")

    assert [command[0] for command in asked] == ["EVALSHA"]


@pytest.mark.parametrize(
    ("caller", "site"),
    [
        ("2001:db8:7:1::", "2001:db8:7::/48"),
        ("2001:db8:7:ffff:1:2:3:4", "2001:db8:7::/48"),
        ("203.0.113.7", None),
        ("account 2001:db8::1", None),
        ("", None),
    ],
)
def test_which_site_a_caller_belongs_to(caller, site):
    assert limits.site_from_address(caller) == site


def test_health_is_never_limited(strict_app):
    client = strict_app.test_client()

    assert {client.get("/healthz").status_code for _ in range(20)} == {200}
