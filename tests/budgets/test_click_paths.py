"""Clicks: round trips of a visit to the stream and the database, and round trips of a batch of any size."""

import re
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from redis.connection import AbstractConnection

import settings
from api.clicks import visits
from models.clicks import batches, public_links
from pipelines.clicks import clicks
from pipelines.clicks import public_links as cache
from tests.budgets.counting import SEPARATOR, HotPath
from tests.support.api.doors import create_door_program, door_path
from tests.support.rows.click_rows import build_click, write
from tests.support.rows.link_visits import BROWSER, create_limiter, new_slug, post_click, visit
from tests.support.running.trips import record_round_trips
from tests.support.settings_overrides import override_settings


@contextmanager
def _record_trips(monkeypatch):
    """Yield a list of the round trips to the stream's server and one of those to the database."""
    to_stream = []
    send = AbstractConnection.send_packed_command

    def record_and_send(self, command, check_health=True):
        to_stream.append(command)
        return send(self, command, check_health)

    with record_round_trips() as to_database, monkeypatch.context() as patch:
        patch.setattr(AbstractConnection, "send_packed_command", record_and_send)
        yield to_stream, to_database


@pytest.fixture
def slug(app, brand, monkeypatch):
    """The slug of a link that may earn, in a process that caches links and has handled a click before."""
    override_settings(monkeypatch, web={"key_cache_s": 60})
    brand.program(referral_destination_url="https://shop.test/")
    slug = new_slug()
    brand.affiliate(slug)
    post_click(app, slug)
    visit(app, f"/r/{slug}")
    post_click(app, new_slug(), programId=str(brand.programs[0]))
    return slug


def _click_uncached(app, slug):
    cache.clear_cache()
    return post_click(app, slug)


#: By name: the request, its status, and its number of statements besides one round trip to the stream.
_VISITS = {
    "cached-link": (post_click, 200, 0),
    "uncached-link": (_click_uncached, 200, 1),
    "unknown-slug": (lambda app, slug: post_click(app, new_slug()), 200, 1),
    "short-link": (lambda app, slug: visit(app, f"/r/{slug}"), 302, 0),
    "malformed": (lambda app, slug: post_click(app, 7), 400, 0),
    "robot": (lambda app, slug: post_click(app, slug, headers={"User-Agent": f"Googlebot {BROWSER}"}), 200, 0),
}


@pytest.mark.parametrize("name", _VISITS)
def test_visit_costs_one_trip_to_the_stream_and_one_statement_if_its_link_is_not_cached(app, slug, monkeypatch, name):
    request, status, statements = _VISITS[name]

    with _record_trips(monkeypatch) as (to_stream, to_database):
        answer = request(app, slug)

    assert answer.status_code == status
    assert ("clickId" in (answer.json or {})) == (name in ("cached-link", "uncached-link"))
    assert (len(to_stream), sum(trip.count(SEPARATOR) for trip in to_database)) == (1, statements)
    assert statements or to_database == []
    assert "Budget: 1 round trip to the stream's server" in visits.count.__doc__
    assert "Budget: 1 statement" in public_links.any_org_find.__doc__
    assert "Budget: 1 statement" in cache.find.__doc__


def test_unknown_slug_is_cached(app, slug, monkeypatch):
    unknown = new_slug()
    post_click(app, unknown)

    with _record_trips(monkeypatch) as (to_stream, to_database):
        assert post_click(app, unknown).json == {"ok": True}

    assert (len(to_stream), to_database) == (1, [])


def test_unknown_slugs_do_not_evict_a_link_from_the_cache(app, slug, monkeypatch):
    monkeypatch.setattr(cache, "_MAX_CACHED", 3)
    for _ in range(8):
        post_click(app, new_slug())

    with _record_trips(monkeypatch) as (_, to_database):
        post_click(app, slug)

    assert to_database == []
    assert len(cache._misses) <= 3


def test_blocked_sender_costs_no_round_trip(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    post_click(app, slug)
    post_click(app, slug)

    with _record_trips(monkeypatch) as (to_stream, to_database):
        statuses = [post_click(app, slug).status_code, visit(app, f"/r/{new_slug()}").status_code]
        statuses.append(visit(app, "/api/v1/r/c.gif").status_code)

    assert statuses == [429, 429, 200]
    assert (to_stream, to_database) == ([], [])


def test_pixel_costs_one_trip_and_records_its_page_once_an_hour(app, brand, slug, monkeypatch):
    query = {"programId": str(brand.programs[0])}

    with _record_trips(monkeypatch) as (to_stream, to_database):
        for _ in range(2):
            visit(app, "/api/v1/r/c.gif", query_string=query)

    assert len(to_stream) == 2
    assert [b"install_seen_at" in trip for trip in to_database] == [True]


@pytest.mark.parametrize(("by_slug", "max_statements"), [(False, 1), (True, 2)])
def test_checkout_door_costs_one_statement_by_id_and_two_by_slug(brand, monkeypatch, by_slug, max_statements):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    slug = create_door_program(brand)
    ((name,),) = brand.rows("select slug from program")
    path = f"/door/{name}/{slug}" if by_slug else door_path(brand, slug)
    for _ in range(2):
        visit(brand.app, path)

    with _record_trips(monkeypatch) as (to_stream, to_database):
        assert visit(brand.app, path).status_code == 302

    assert len(to_stream) == 1
    assert len([trip for trip in to_database if trip != b"commit"]) <= max_statements, to_database


@pytest.mark.parametrize(
    ("is_ours", "names_program", "max_statements"), [(True, False, 0), (True, True, 1), (False, False, 1)]
)
def test_loader_script_costs_at_most_one_statement(brand, is_ours, names_program, max_statements):
    program_id = brand.program()
    host = urlsplit(settings.current().web.url).netloc if is_ours else f"go.{uuid4().hex}.example"
    if not is_ours:
        brand.set(trackingDomain=host, trackingDomainVerified="on")
    path = "/api/v1/r/loader.js" + (f"?programId={program_id}" if names_program else "")
    client = brand.app.test_client()
    client.get(path, headers={"Host": host})
    with record_round_trips() as round_trips:
        answer = client.get(path, headers={"Host": host})

    assert answer.status_code == 200
    assert len([trip for trip in round_trips if trip != b"commit"]) <= max_statements, round_trips


_HEADLESS = {"agent": "Mozilla/5.0 HeadlessChrome/140.0"}


def _batch(brand, people, number, **fields):
    return [build_click(brand, people[index % len(people)], slug=f"slug-{index}", **fields) for index in range(number)]


def _batches(terms, **fields):
    """Return an arrangement that writes two batches to prepare the statements, then a small and a large one."""

    def arrange(brand):
        brand.program(**terms)
        people = [brand.affiliate(f"a{n}") for n in range(5)]
        for _ in range(2):
            write(brand, *_batch(brand, people, 5, **fields))
        return [lambda number=number: write(brand, *_batch(brand, people, number, **fields)) for number in (5, 500)]

    return arrange


def _known_batch(brand):
    brand.program()
    batch = _batch(brand, [brand.affiliate("ben")], 100)
    write(brand, *batch)
    return [lambda: write(brand, *batch)]


def _scattered_batch(brand, monkeypatch):
    monkeypatch.setattr(batches, "_MAX_BETWEEN", 10)
    brand.program()
    people = [brand.affiliate("ben")]
    first, *others, last = sorted(
        _batch(brand, people, 30), key=lambda click: click.id
    )  # ids of one millisecond are in random order
    write(brand, *others)
    yield lambda: write(brand, first, others[3], last)
    assert write(brand, first, others[3], last).new == 0


def _busy_network(brand, monkeypatch):
    monkeypatch.setattr(batches, "_MAX_AT_ONCE", 30)
    brand.program()
    person = brand.affiliate("ben")
    for _ in range(2):
        write(brand, *[build_click(brand, person, network="office", slug="ben") for _ in range(25)])
    return [lambda: write(brand, build_click(brand, person, network="office", slug="ben"))] * 2


_PAID = {"click_reward_cents": 10, "budget_cents": 10_000}
_BATCHES = {
    "unpaid": HotPath(_batches({}), 6, stated={clicks.write: "5 and the commit where nothing is paid"}),
    # The budget of the one program, and the rows that collect small rewards.
    "paid": HotPath(_batches(_PAID), 6 + 2),
    "held": HotPath(_batches({"click_reward_cents": 10}, is_data_centre=True), 6),
    "blocked": HotPath(_batches({}, **_HEADLESS), 6),
    "blocked-of-a-paying-program": HotPath(_batches({"click_reward_cents": 10}, **_HEADLESS), 6),
    "known": HotPath(_known_batch, 1 + 1, stated={clicks.write: "1 round trip for a batch that is written already"}),
    "scattered-ids": HotPath(
        _scattered_batch, 6 + 1, stated={clicks.write: "a batch whose ids span many ids of other batches one"}
    ),
    "busy-network": HotPath(
        _busy_network,
        6 + 1,
        stated={clicks.write: "Networks with many clicks within the hour cost one more"},
        rows=("select count(*) from click where 'burst' = any(reasons)", 5 + 25 + 2),
    ),
}


@pytest.mark.parametrize("name", _BATCHES)
def test_batch_of_clicks_keeps_its_budget(request, brand, name):
    _BATCHES[name].assert_budget(brand, request)


def test_blocked_clicks_of_a_batch_are_recorded_as_one_event_per_link_in_one_statement(brand):
    brand.program()
    people = [brand.affiliate(f"a{n}") for n in range(5)]

    with record_round_trips() as round_trips:
        write(brand, *_batch(brand, people, 200, **_HEADLESS))

    (events,) = [trip for trip in round_trips if b"occurrences" in trip]
    assert len(re.findall(rb'"occurrences":40}', events)) == 5
