"""Round trips of a visit: to the stream's server, and to the database. Budgets stand in the docstrings.

Every path runs once before it is counted: scripts and statements are prepared at their first use.
"""

from contextlib import contextmanager

import pytest
from redis.connection import AbstractConnection

from api.clicks import visits
from models import db
from models.clicks import public_links
from pipelines.clicks import public_links as remembered
from tests.support.api.doors import door_of, with_door
from tests.support.rows.visiting import BROWSER, click, limited, new_slug, visit
from tests.support.turning import turn

_SEPARATOR = b";\n"


@contextmanager
def _counting(monkeypatch):
    """Count what goes to either server: a pair of lists."""
    to_stream, to_database = [], []
    send = AbstractConnection.send_packed_command

    def counted(self, command, check_health=True):
        to_stream.append(command)
        return send(self, command, check_health)

    db.db.trip_hooks.append(to_database.append)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(AbstractConnection, "send_packed_command", counted)
            yield to_stream, to_database
    finally:
        db.db.trip_hooks.remove(to_database.append)


@pytest.fixture
def slug(app, brand, monkeypatch):
    """A link that can earn, in a process that remembers links and has sent a click before."""
    turn(monkeypatch, web={"key_cache_s": 60})
    brand.program(referral_destination_url="https://shop.test/")
    slug = new_slug()
    brand.affiliate(slug)
    click(app, slug)
    visit(app, f"/r/{slug}")
    click(app, new_slug(), programId=str(brand.programs[0]))
    return slug


def _statements(to_database):
    """Return how many statements there were beside openings and commits."""
    return sum(trip.count(_SEPARATOR) for trip in to_database)


def test_a_visit_by_a_link_that_is_remembered_is_one_trip_to_the_stream_and_none_to_the_database(
    app, slug, monkeypatch
):
    with _counting(monkeypatch) as (to_stream, to_database):
        assert click(app, slug).json["clickId"]

    assert "Budget: 1 round trip to the stream's server" in visits.count.__doc__
    assert (len(to_stream), len(to_database)) == (1, 0)


def test_a_visit_by_a_link_that_is_not_remembered_is_one_statement_more(app, slug, monkeypatch):
    remembered.forget()

    with _counting(monkeypatch) as (to_stream, to_database):
        assert click(app, slug).json["clickId"]

    assert "Budget: 1 statement" in public_links.any_org_find.__doc__
    assert "Budget: 1 statement" in remembered.find.__doc__
    assert (len(to_stream), _statements(to_database)) == (1, 1)


@pytest.mark.parametrize("is_remembered", [True, False])
def test_a_slug_that_nobody_has_costs_what_a_living_one_costs(app, slug, monkeypatch, is_remembered):
    nobodys = new_slug()
    if is_remembered:
        click(app, nobodys)

    with _counting(monkeypatch) as (to_stream, to_database):
        assert click(app, nobodys).json == {"ok": True}

    assert (len(to_stream), _statements(to_database)) == (1, 0 if is_remembered else 1)


def test_many_guesses_do_not_push_out_a_living_link(app, slug, monkeypatch):
    monkeypatch.setattr(remembered, "_MOST", 3)
    for _ in range(8):
        click(app, new_slug())

    with _counting(monkeypatch) as (_, to_database):
        click(app, slug)

    assert to_database == []
    assert len(remembered._unknown) <= 3


def test_a_short_link_that_is_remembered_costs_no_more(app, slug, monkeypatch):
    with _counting(monkeypatch) as (to_stream, to_database):
        assert visit(app, f"/r/{slug}").status_code == 302

    assert (len(to_stream), len(to_database)) == (1, 0)


def test_a_request_over_the_limit_costs_nothing_once_that_is_known(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=1))
    click(app, slug)
    click(app, slug)

    with _counting(monkeypatch) as (to_stream, to_database):
        statuses = [click(app, slug).status_code, visit(app, f"/r/{new_slug()}").status_code]
        statuses.append(visit(app, "/api/v1/r/c.gif").status_code)

    assert statuses == [429, 429, 200]
    assert (to_stream, to_database) == ([], [])


def test_a_malformed_visit_is_counted_in_one_trip(app, slug, monkeypatch):
    with _counting(monkeypatch) as (to_stream, to_database):
        assert click(app, 7).status_code == 400

    assert (len(to_stream), len(to_database)) == (1, 0)


def test_the_picture_costs_one_trip_and_notes_its_page_once_an_hour(app, brand, slug, monkeypatch):
    query = {"programId": str(brand.programs[0])}

    with _counting(monkeypatch) as (to_stream, to_database):
        for _ in range(2):
            visit(app, "/api/v1/r/c.gif", query_string=query)

    assert len(to_stream) == 2
    assert [b"install_seen_at" in trip for trip in to_database] == [True]


def test_a_robot_costs_what_a_visit_costs(app, slug, monkeypatch):
    with _counting(monkeypatch) as (to_stream, to_database):
        click(app, slug, headers={"User-Agent": f"Googlebot {BROWSER}"})

    assert (len(to_stream), len(to_database)) == (1, 0)


@pytest.mark.parametrize(("by_slug", "most"), [(False, 1), (True, 2)])
def test_a_buyer_at_a_checkout_door_costs_the_memory_of_the_visit(brand, monkeypatch, by_slug, most):
    turn(monkeypatch, web={"key_cache_s": 60})
    slug = with_door(brand)
    ((name,),) = brand.rows("select slug from program")
    path = f"/door/{name}/{slug}" if by_slug else door_of(brand, slug)
    for _ in range(2):
        visit(brand.app, path)

    with _counting(monkeypatch) as (to_stream, to_database):
        assert visit(brand.app, path).status_code == 302

    assert len(to_stream) == 1
    assert len([trip for trip in to_database if trip != b"commit"]) <= most, to_database
