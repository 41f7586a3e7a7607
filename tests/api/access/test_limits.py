"""Rate limits in a real Redis, shared by processes, and off while Redis is down."""

import time
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

import settings
from adapters import servers
from api.access import limits
from api.access.limits import Limiter

_DOWN_URL = "unix:///nowhere/valkey.sock?db=0"


def _create_limiter(redis_url: str | None = None) -> Limiter:
    small_limits = {"standard": 3, "s2s": 2, "apply": 2, "unknown": 100}
    limits_of_one = dict.fromkeys(settings.current().web.limits_per_min, 1)
    return Limiter(redis_url or servers.urls().redis_url, limits_of_one | small_limits)


def _count_failed_open() -> float:
    return REGISTRY.get_sample_value("finderfee_rate_limit_failed_open_total") or 0.0


@pytest.fixture
def strict_app(app, monkeypatch):
    """Return the application with windows of two or three requests."""
    monkeypatch.setitem(app.extensions, "limiter", _create_limiter())
    return app


def test_limit_is_shared_by_processes(app):
    first, second = _create_limiter(), _create_limiter()

    allowed = [limiter.allows("standard", "ann") for limiter in (first, second, first, second, first)]

    assert allowed == [True, True, True, False, False]


def test_callers_and_buckets_are_counted_separately(app):
    limiter = _create_limiter()

    allowed = [limiter.allows("strict_write", caller) for caller in ("ann", "ann", "bob")]

    assert allowed == [True, False, True]
    assert limiter.allows("standard", "ann")


def test_unreachable_redis_allows_every_request_and_counts_it(app):
    limiter, before = _create_limiter(_DOWN_URL), _count_failed_open()

    allowed = [limiter.allows("strict_write", "ann") for _ in range(5)]

    assert allowed == [True] * 5
    assert _count_failed_open() - before == 5


def test_failed_redis_is_not_retried_for_a_while(app, monkeypatch):
    at_s = time.monotonic()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: at_s))
    limiter = _create_limiter(_DOWN_URL)
    limiter.allows("strict_write", "ann")
    limiter._redis = _create_limiter()._redis  # the server is back

    during_pause = [limiter.allows("strict_write", "ann") for _ in range(3)]
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: at_s + 6))
    after_pause = [limiter.allows("strict_write", "ann") for _ in range(2)]

    assert during_pause == [True, True, True]
    assert after_pause == [True, False]


def test_request_over_the_limit_returns_empty_429(strict_app, brand):
    answers = [brand.get("/api/v1/programs") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].data == b""


def test_keys_of_one_person_share_a_window(strict_app, brand, rival):
    for caller in (brand, brand, brand.other_key()):
        assert caller.get("/api/v1/programs").status_code == 200

    assert brand.other_key().get("/api/v1/programs").status_code == 429
    assert rival.get("/api/v1/programs").status_code == 200


def test_sessions_and_keys_of_one_person_share_a_window(strict_app, brand):
    callers = (brand, brand.person(email="owner@example.com"), brand.person(email="owner@example.com"), brand)

    assert [caller.get("/api/v1/programs").status_code for caller in callers] == [200, 200, 200, 429]


def test_signed_ingest_is_limited_per_address_across_keys(strict_app, brand, rival):
    statuses = [caller.sale().status_code for caller in (brand, rival, brand)]

    assert statuses == [400, 400, 429]


def test_wrong_key_returns_401_and_uses_no_window(strict_app, brand):
    client = strict_app.test_client()
    for _ in range(5):
        assert client.get("/api/v1/programs", headers={"Authorization": "Bearer wrong"}).status_code == 401

    assert brand.get("/api/v1/programs").status_code == 200


def test_public_form_is_limited_per_address(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": f"10.0.0.{n}"}) for n in (1, 1, 1, 2)]

    assert [answer.status_code for answer in answers] == [404, 404, 429, 404]
    assert answers[2].data == b""


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP"])
def test_forwarding_headers_of_untrusted_clients_are_ignored(strict_app, brand, header):
    client, path = strict_app.test_client(), f"/api/p/id/{brand.id}/apply"

    answers = [client.post(path, json={}, headers={header: f"10.0.0.{n}"}).status_code for n in (1, 2, 3)]

    assert answers == [404, 404, 429]


def test_addresses_of_one_ipv6_network_share_a_window(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"
    addresses = ("2001:db8::1", "2001:db8::2", "2001:db8::ffff:3", "2001:db8:0:1::1")

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": address}) for address in addresses]

    assert [answer.status_code for answer in answers] == [404, 404, 429, 404]


def test_mapped_ipv4_addresses_are_counted_separately(strict_app, brand):
    client = strict_app.test_client()
    path = f"/api/p/id/{brand.id}/apply"
    addresses = [f"::ffff:10.0.0.{n}" for n in (1, 2, 3, 4)]

    answers = [client.post(path, json={}, environ_base={"REMOTE_ADDR": address}) for address in addresses]

    assert {answer.status_code for answer in answers} == {404}


def test_networks_of_one_ipv6_site_share_a_wider_window(app):
    limiter = _create_limiter()
    site_limit = 3 * limits.SITE_TIMES

    spread = [limiter.allows("standard", f"2001:db8:7:{n:x}::") for n in range(site_limit + 2)]
    other_site = limiter.allows("standard", "2001:db8:8::")

    assert spread == [True] * site_limit + [False] * 2
    assert other_site


def test_one_network_cannot_use_up_its_site_limit(app):
    limiter = _create_limiter()

    greedy = [limiter.allows("standard", "2001:db8:7:1::") for _ in range(3 * limits.SITE_TIMES + 10)]

    assert sum(greedy) == 3
    assert limiter.allows("standard", "2001:db8:7:2::")


def test_ipv6_request_is_counted_in_one_round_trip(app, monkeypatch):
    limiter, commands = _create_limiter(), []
    send = limiter._redis.send
    monkeypatch.setattr(limiter._redis, "send", lambda *command: commands.append(command) or send(*command))
    limiter.allows("standard", "2001:db8:7:1::")
    commands.clear()

    limiter.allows("standard", "2001:db8:7:1::")

    assert [command[0] for command in commands] == ["EVALSHA"]


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
def test_site_is_the_48_bit_prefix_of_an_ipv6_caller(caller, site):
    assert limits.site_from_address(caller) == site


def test_health_check_is_never_limited(strict_app):
    client = strict_app.test_client()

    assert {client.get("/healthz").status_code for _ in range(20)} == {200}
