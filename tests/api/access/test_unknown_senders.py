"""What keys and origins that nobody has may cost, and that they cost nobody else anything."""

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
def kept(monkeypatch):
    """Keys are remembered for a minute."""
    override_settings(monkeypatch, web={"key_cache_s": 60, "portal_domain": "partners.test"})


@pytest.fixture
def scarce(app, kept, monkeypatch):
    """An address may try three keys or origins a minute."""
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(unknown=3))


def _try(app, key, *, ip="10.0.0.1", path=URL):
    headers = {"Authorization": f"Bearer {key}"}
    return app.test_client().get(path, headers=headers, environ_base={"REMOTE_ADDR": ip}).status_code


def _ask(app, origin, *, ip="10.0.0.1"):
    answer = app.test_client().get("/healthz", headers={"Origin": origin}, environ_base={"REMOTE_ADDR": ip})
    return answer.headers.get("Access-Control-Allow-Origin")


@contextmanager
def _counting():
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        yield trips
    finally:
        db.db.trip_hooks.remove(trips.append)


def test_whoever_tries_keys_is_stopped_before_the_database_is_asked(app, scarce):
    first = [_try(app, f"ff_live_{number}") for number in range(4)]
    with _counting() as trips:
        later = [_try(app, f"ff_live_{number}") for number in range(4, 8)]

    assert first == later == [401] * 4
    (all_keys, _) = trips  # once for all of them, and its commit
    assert b"from api_key where revoked_at is null" in all_keys


def test_a_signed_route_stops_them_alike(app, scarce):
    def post(number):
        return app.test_client().post("/api/tracking/s2s", headers={"X-Service-Api-Key": f"k{number}"})

    for number in range(4):
        post(number)
    with _counting() as trips:
        answers = [post(number) for number in range(4, 10)]

    assert {(answer.status_code, answer.data) for answer in answers} == {(401, b"")}
    assert len(trips) == 2


def test_one_wrong_key_that_is_sent_again_and_again_is_counted_once_and_stays_a_401(app, scarce):
    with _counting() as trips:
        answers = [_try(app, "ff_live_mistyped") for _ in range(20)]

    assert answers == [401] * 20
    assert sum(b"from api_key" in trip for trip in trips) == 1


def test_who_is_known_goes_on_from_an_address_that_is_stopped(app, scarce, brand, monkeypatch):
    assert _try(app, brand.api_key) == 200
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key) == 200
    override_settings(monkeypatch, web={"key_cache_s": 0})
    callers._cached.update({name: (0.0, found) for name, (_, found) in callers._cached.items()})  # time goes by
    assert _try(app, brand.api_key) == 200


def test_a_good_key_that_a_process_has_not_met_is_let_in_from_an_address_that_is_stopped(app, scarce, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key) == 200


def test_a_key_that_is_made_meanwhile_is_let_in_after_a_moment(app, scarce, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")
    other = brand.other_key()

    assert _try(app, other.api_key) == 401
    callers._keys_in_force._until = 0.0  # KEY_CACHE_S later
    assert _try(app, other.api_key) == 200


def test_other_addresses_are_not_stopped(app, scarce, brand):
    for number in range(5):
        _try(app, f"ff_live_{number}")

    assert _try(app, brand.api_key, ip="10.0.0.2") == 200
    assert _try(app, "ff_live_other", ip="10.0.0.2") == 401


def test_the_networks_of_one_site_are_stopped_together(app, scarce):
    for number in range(3 * 16 + 1):
        _try(app, f"ff_live_{number}", ip=f"2001:db8:0:{number:x}::1")
    with _counting() as trips:
        _try(app, "ff_live_one_more", ip="2001:db8:0:ffff::1")

    assert not [trip for trip in trips if b"key_hash =" in trip]


def test_good_keys_are_never_counted(app, scarce, brand):
    others = [brand.other_key() for _ in range(6)]

    assert [_try(app, other.api_key) for other in others] == [200] * 6


def test_a_good_key_costs_one_statement_and_then_none(app, kept, brand):
    other = brand.other_key()
    with _counting() as first:
        _try(app, other.api_key, path="/api/v1/nowhere-to-be-found")
        _try(app, other.api_key)
    with _counting() as again:
        _try(app, other.api_key)

    assert sum(b"from api_key" in trip for trip in first) == 1
    assert sum(b"from api_key" in trip for trip in again) == 0


def test_wrong_keys_never_push_out_a_good_one(app, kept, brand, monkeypatch):
    monkeypatch.setattr(callers, "_CACHE_SIZE", 4)
    _try(app, brand.api_key)
    for number in range(20):
        _try(app, f"ff_live_{number}")

    with _counting() as trips:
        assert _try(app, brand.api_key) == 200

    assert sum(b"from api_key" in trip for trip in trips) == 0
    assert len(callers._rejected) <= 4


def test_a_key_that_is_revoked_is_forgotten_as_a_good_one(app, kept, brand, monkeypatch):
    other = brand.other_key()
    _try(app, other.api_key)
    brand.rows("update api_key set revoked_at = now() where last_four = %s returning id", other.api_key[-4:])
    callers._cached.update({name: (0.0, found) for name, (_, found) in callers._cached.items()})  # time goes by

    assert [_try(app, other.api_key) for _ in range(2)] == [401, 401]
    assert callers._cached == {}


def test_origins_that_are_nobodys_are_stopped_before_the_database_is_asked(app, scarce, brand):
    ours = f"https://{brand.rows('select subdomain from organization')[0][0]}.partners.test"
    for number in range(4):
        assert _ask(app, f"https://a{number}.test") is None
    with _counting() as trips:
        for number in range(4, 8):
            assert _ask(app, f"https://a{number}.test") is None

    assert trips == []
    assert _ask(app, ours, ip="10.0.0.2") == ours
    assert _ask(app, ours) == ours  # who is known stays so


def test_origins_that_are_nobodys_push_out_no_portal(app, kept, brand, monkeypatch):
    monkeypatch.setattr(cors, "_CACHE_SIZE", 4)
    ours = f"https://{brand.rows('select subdomain from organization')[0][0]}.partners.test"
    _ask(app, ours)
    for number in range(20):
        _ask(app, f"https://a{number}.test")

    with _counting() as trips:
        assert _ask(app, ours) == ours

    assert trips == []


def test_readiness_is_looked_at_once_a_second_however_many_ask(app, monkeypatch):
    """The clock stands still while they ask, then a second is over."""
    at_s, looks = time.monotonic(), []
    for now_s in (at_s, at_s + 0.9, at_s + 1.1):
        monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda now_s=now_s: now_s))
        with _counting() as trips:
            answers = [app.test_client().get("/readyz").status_code for _ in range(50)]
        assert answers == [200] * 50
        looks.append(sum(b"select name from migration" in trip for trip in trips))

    assert looks == [1, 0, 1]
