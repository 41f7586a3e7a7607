"""Cost limits for unknown keys and origins, and no effect of those limits on other callers."""

import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from api.access import callers
from api.edge import cors
from api.service import health
from models import db
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings

URL = "/api/v1/programs"


@pytest.fixture
def cached_keys(monkeypatch):
    """Cache keys for a minute."""
    override_settings(monkeypatch, web={"key_cache_s": 60, "portal_domain": "partners.test"})


@pytest.fixture
def low_limit(app, cached_keys, monkeypatch):
    """Limit each address to three unknown keys or origins a minute."""
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(unknown=3))


def _try(app, key, *, ip="10.0.0.1", path=URL):
    headers = {"Authorization": f"Bearer {key}"}
    return app.test_client().get(path, headers=headers, environ_base={"REMOTE_ADDR": ip}).status_code


def _get_allowed_origin(app, origin, *, ip="10.0.0.1"):
    answer = app.test_client().get("/healthz", headers={"Origin": origin}, environ_base={"REMOTE_ADDR": ip})
    return answer.headers.get("Access-Control-Allow-Origin")


@contextmanager
def _record_round_trips():
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        yield trips
    finally:
        db.db.trip_hooks.remove(trips.append)


def test_caller_guessing_keys_is_stopped_before_the_database(app, low_limit):
    first = [_try(app, f"ff_live_{number}") for number in range(4)]
    with _record_round_trips() as trips:
        over_limit = [_try(app, f"ff_live_{number}") for number in range(4, 8)]

    assert first == over_limit == [401] * 4
    (all_keys, _) = trips  # one query for all keys, and its commit
    assert b"from api_key where revoked_at is null" in all_keys


def test_signed_route_stops_unknown_keys(app, low_limit):
    def post(number):
        return app.test_client().post("/api/tracking/s2s", headers={"X-Service-Api-Key": f"k{number}"})

    for number in range(4):
        post(number)
    with _record_round_trips() as trips:
        answers = [post(number) for number in range(4, 10)]

    assert {(answer.status_code, answer.data) for answer in answers} == {(401, b"")}
    assert len(trips) == 2


def test_repeated_wrong_key_is_counted_once_and_returns_401(app, low_limit):
    with _record_round_trips() as trips:
        answers = [_try(app, "ff_live_mistyped") for _ in range(20)]

    assert answers == [401] * 20
    assert sum(b"from api_key" in trip for trip in trips) == 1


def test_known_key_works_from_a_stopped_address(app, low_limit, brand, monkeypatch):
    assert _try(app, brand.api_key) == 200
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key) == 200
    override_settings(monkeypatch, web={"key_cache_s": 0})
    callers._cached.update({name: (0.0, cached) for name, (_, cached) in callers._cached.items()})  # the entries expire
    assert _try(app, brand.api_key) == 200


def test_uncached_valid_key_works_from_a_stopped_address(app, low_limit, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key) == 200


def test_new_key_works_from_a_stopped_address_after_the_cache_expires(app, low_limit, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")
    other = brand.other_key()

    assert _try(app, other.api_key) == 401
    callers._keys_in_force._until = 0.0  # KEY_CACHE_S later
    assert _try(app, other.api_key) == 200


def test_other_addresses_are_not_stopped(app, low_limit, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key, ip="10.0.0.2") == 200
    assert _try(app, "ff_live_other", ip="10.0.0.2") == 401


def test_networks_of_one_site_are_stopped_together(app, low_limit):
    for number in range(3 * 16 + 1):
        _try(app, f"ff_live_{number}", ip=f"2001:db8:0:{number:x}::1")
    with _record_round_trips() as trips:
        _try(app, "ff_live_one_more", ip="2001:db8:0:ffff::1")

    assert not [trip for trip in trips if b"key_hash =" in trip]


def test_valid_keys_are_never_counted(app, low_limit, brand):
    others = [brand.other_key() for _ in range(6)]

    assert [_try(app, other.api_key) for other in others] == [200] * 6


def test_valid_key_costs_one_statement_and_none_once_cached(app, cached_keys, brand):
    other = brand.other_key()
    with _record_round_trips() as first:
        _try(app, other.api_key, path="/api/v1/nowhere-to-be-found")
        _try(app, other.api_key)
    with _record_round_trips() as again:
        _try(app, other.api_key)

    assert sum(b"from api_key" in trip for trip in first) == 1
    assert sum(b"from api_key" in trip for trip in again) == 0


def test_wrong_keys_never_evict_a_valid_key(app, cached_keys, brand, monkeypatch):
    monkeypatch.setattr(callers, "_CACHE_SIZE", 4)
    _try(app, brand.api_key)
    for number in range(20):
        _try(app, f"ff_live_{number}")

    with _record_round_trips() as trips:
        assert _try(app, brand.api_key) == 200

    assert sum(b"from api_key" in trip for trip in trips) == 0
    assert len(callers._rejected) <= 4


def test_revoked_key_is_removed_from_the_cache(app, cached_keys, brand, monkeypatch):
    other = brand.other_key()
    _try(app, other.api_key)
    brand.rows("update api_key set revoked_at = now() where last_four = %s returning id", other.api_key[-4:])
    callers._cached.update({name: (0.0, cached) for name, (_, cached) in callers._cached.items()})  # the entries expire

    assert [_try(app, other.api_key) for _ in range(2)] == [401, 401]
    assert callers._cached == {}


def test_unknown_origins_are_stopped_before_the_database(app, low_limit, brand):
    portal_origin = f"https://{brand.rows('select subdomain from organization')[0][0]}.partners.test"
    for number in range(4):
        assert _get_allowed_origin(app, f"https://a{number}.test") is None
    with _record_round_trips() as trips:
        for number in range(4, 8):
            assert _get_allowed_origin(app, f"https://a{number}.test") is None

    assert trips == []
    assert _get_allowed_origin(app, portal_origin, ip="10.0.0.2") == portal_origin
    assert _get_allowed_origin(app, portal_origin) == portal_origin  # a known origin stays allowed


def test_unknown_origins_never_evict_a_portal_origin(app, cached_keys, brand, monkeypatch):
    monkeypatch.setattr(cors, "_CACHE_SIZE", 4)
    portal_origin = f"https://{brand.rows('select subdomain from organization')[0][0]}.partners.test"
    _get_allowed_origin(app, portal_origin)
    for number in range(20):
        _get_allowed_origin(app, f"https://a{number}.test")

    with _record_round_trips() as trips:
        assert _get_allowed_origin(app, portal_origin) == portal_origin

    assert trips == []


def test_readiness_is_checked_at_most_once_a_second(app, monkeypatch):
    """The clock is frozen during the requests, then advanced by more than a second."""
    at_s, migration_queries = time.monotonic(), []
    for now_s in (at_s, at_s + 0.9, at_s + 1.1):
        monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda now_s=now_s: now_s))
        with _record_round_trips() as trips:
            answers = [app.test_client().get("/readyz").status_code for _ in range(50)]
        assert answers == [200] * 50
        migration_queries.append(sum(b"select name from migration" in trip for trip in trips))

    assert migration_queries == [1, 0, 1]
