"""A batch of clicks costs the same number of round trips, however many clicks are in it."""

import re

import pytest

from models import db
from models.clicks import batches
from pipelines.clicks import clicks
from tests.support.rows.click_rows import raw, write


def _trips(brand, batch):
    return len(_sent(brand, batch))


def _sent(brand, batch):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        write(brand, *batch)
    finally:
        db.db.trip_hooks.remove(trips.append)
    return trips


def _batch(brand, people, number, **fields):
    return [raw(brand, people[n % len(people)], slug=f"slug-{n}", **fields) for n in range(number)]


@pytest.mark.parametrize("number", [1, 500])
def test_a_batch_that_pays_nothing_keeps_to_its_budget(brand, number):
    brand.program()
    people = [brand.affiliate(f"a{n}") for n in range(5)]
    write(brand, *_batch(brand, people, 2))  # prepares the statements

    assert "5 and the commit where nothing is paid" in _said(clicks.write)
    assert _trips(brand, _batch(brand, people, number)) == 6


@pytest.mark.parametrize("number", [5, 500])
def test_a_batch_that_pays_costs_two_more_for_each_program_or_all(brand, number):
    brand.program(click_reward_cents=10, budget_cents=10_000)
    people = [brand.affiliate(f"a{n}") for n in range(5)]
    for _ in range(2):
        write(brand, *_batch(brand, people, 5))

    # The budget of the one program, and the rows that gather.
    assert _trips(brand, _batch(brand, people, number)) == 6 + 2


def test_held_clicks_travel_with_the_commit(brand):
    brand.program(click_reward_cents=10)
    people = [brand.affiliate(f"a{n}") for n in range(5)]
    for _ in range(2):
        write(brand, *_batch(brand, people, 5, is_data_centre=True))

    assert _trips(brand, _batch(brand, people, 200, is_data_centre=True)) == 6


@pytest.mark.parametrize("terms", [{}, {"click_reward_cents": 10}], ids=["unpaid", "paid"])
def test_blocked_clicks_travel_with_the_rest_in_one_statement(brand, terms):
    brand.program(**terms)
    people = [brand.affiliate(f"a{n}") for n in range(5)]
    headless = {"agent": "Mozilla/5.0 HeadlessChrome/140.0"}
    for _ in range(2):
        write(brand, *_batch(brand, people, 5, **headless))

    trips = _sent(brand, _batch(brand, people, 200, **headless))

    assert len(trips) == 6
    # One statement's JSON has an event for each link.
    (events,) = [trip for trip in trips if b"occurrences" in trip]
    assert events.count(b'"occurrences":40},{') == 4
    assert events.count(b'"occurrences":40}]') == 1


def test_a_batch_that_is_known_costs_one(brand):
    brand.program()
    batch = _batch(brand, [brand.affiliate("ben")], 100)
    write(brand, *batch)

    assert "1 round trip for a batch that is known" in _said(clicks.write)
    assert _trips(brand, batch) == 1 + 1


def test_a_batch_among_whose_ids_lie_many_others_costs_one_more_and_knows_its_own(brand, monkeypatch):
    monkeypatch.setattr(batches, "_MAX_BETWEEN", 10)
    brand.program()
    people = [brand.affiliate("ben")]
    first, *others, last = sorted(_batch(brand, people, 30), key=lambda click: click.id)  # within a moment by chance
    write(brand, *others)

    assert "a batch among whose ids lie many others' one" in _said(clicks.write)
    assert _trips(brand, [first, others[3], last]) == 6 + 1 + 1  # one prepares the statement
    written = write(brand, first, others[3], last)

    assert written.new == 0


def test_busy_networks_cost_one_more(brand, monkeypatch):
    monkeypatch.setattr("models.clicks.batches._MAX_AT_ONCE", 30)
    brand.program()
    person, office = brand.affiliate("ben"), ["office"] * 25
    for _ in range(2):
        write(brand, *[raw(brand, person, network=network, slug="ben") for network in office])

    assert "Networks that did much within the hour cost one more" in _said(clicks.write)
    assert _trips(brand, [raw(brand, person, network="office", slug="ben")]) == 6 + 1 + 1  # one prepares the statement
    assert _trips(brand, [raw(brand, person, network="office", slug="ben")]) == 6 + 1
    bursts = "select count(*) from click where 'burst' = any(reasons)"
    assert brand.rows(bursts) == [(5 + 25 + 2,)]


def _said(function):
    found = re.search(r"Budget: (.*)", " ".join((function.__doc__ or "").split()))
    assert found
    return found[1]
