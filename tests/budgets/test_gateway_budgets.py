"""How many round trips an event of a gateway takes: to be accepted, to be booked, and to be listed again."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters import clock
from api.gateways import inbound
from models import db
from models.gateways import payments
from pipelines.gateways import process, reconcile
from pipelines.gateways.booking import sell
from tests.support.draining import hand_out, run
from tests.support.gateways.playing import connected, played
from tests.support.gateways.stage import Purchase, Sent, Stage
from tests.support.rows.brands import Brand
from tests.support.turning import turn


@pytest.fixture
def stage() -> Iterator[Stage]:
    with played() as playing:
        yield playing


@pytest.fixture
def connection(brand: Brand, stage: Stage) -> dict[str, str]:
    brand.program()
    brand.affiliate("jane")
    return connected(brand.person("Owner"), stage)


@contextmanager
def _trips() -> Iterator[list[bytes]]:
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        yield trips
    finally:
        db.db.trip_hooks.remove(trips.append)


def _deliver(brand: Brand, connection: dict[str, str], sent: Sent) -> None:
    path = "/" + connection["webhookUrl"].split("/", 3)[3]
    assert brand.app.test_client().post(path, data=sent.body, headers=dict(sent.headers)).status_code == 200


def _pages(brand, connection_id):
    """List everything, and return how many statements each page took."""
    with db.unit_of_work(brand.id):
        run = reconcile.prepare(organization_id=brand.id, connection_id=connection_id, since=None, now=clock.now())
    found, counts = reconcile.ReconcileFound(), []
    for page in reconcile.pages(run, found):
        with _trips() as trips, db.unit_of_work(brand.id):
            reconcile.take(run, page, found, now=clock.now())
        counts.append(len(trips))
    return found, counts


def test_accepting_an_event(brand, stage, connection, monkeypatch):
    turn(monkeypatch, web={"key_cache_s": 60})
    first, second = stage.pay(Purchase()).sent[0], stage.pay(Purchase()).sent[0]
    _deliver(brand, connection, first)

    for sent in (second, second):  # and one that came before
        with _trips() as trips:
            _deliver(brand, connection, sent)

        assert "Budget: 1 round trip (event, job and commit)" in (inbound.take_gateway_event.__doc__ or "")
        assert len(trips) == 1, trips
    assert brand.rows("select count(*) from gateway_event") == [(2,)]
    assert brand.rows("select count(*) from job where name = 'gateway.event'") == [(2,)]


def test_booking_an_event_that_says_all(brand, stage, connection, drain):
    _deliver(brand, connection, stage.pay(Purchase()).sent[0])
    drain()
    _deliver(brand, connection, stage.pay(Purchase(customer="2")).sent[0])
    (pointer,) = hand_out(("gateways",))

    with _trips() as trips:
        run(pointer)

    assert "Budget: 1 round trip (read)" in (process.prepare.__doc__ or "")
    assert "Budget: 2 round trips" in (sell.payment.__doc__ or "")
    assert len(trips) == 1 + 1 + 2 + 1, trips  # and the job's lock, and the commit
    assert brand.rows("select count(*) from conversion where source = 'stripe'") == [(2,)]


@pytest.mark.usefixtures("alone")
def test_what_is_known_and_what_waits_is_found_by_index_even_with_a_plan_of_an_empty_table(
    brand, stage, connection, drain
):
    sale = stage.pay(Purchase())
    for sent in (*stage.refund(sale, 100), *sale.sent):  # the refund waits
        _deliver(brand, connection, sent)
        drain()
    with db.unit_of_work(brand.id):
        known, woken = (
            "\n".join(line for (line,) in db.db.run(f"explain {statement.execute}", [None] * count))
            for statement, count in (
                (payments._LOCK_CONTEXT, 9),
                (payments._RELEASE_PARKED, 8),
            )
        )

    assert "using gateway_alias_pkey" in known, known
    for plan in (known, woken):
        for by in ("customer", "subscription", "email", "order"):
            assert f"using gateway_payment_{by} on gateway_payment" in plan, plan
        (event,) = re.findall(r"on gateway_event\S*.*\n +Index Cond: (.*)", plan)
        assert re.search(r"id = p\S*\.event_id", event), plan
        (look,) = re.findall(r"using gateway_parked_pkey on gateway_parked\S*.*\n +Index Cond: (.*)", plan)
        assert "alias = ANY" in look, plan


def test_a_page_of_a_reconcile_takes_the_same_trips_however_much_is_in_it(brand, stage, connection, drain):
    stage.pay(Purchase())
    _pages(brand, connection["id"])  # a connection of the database prepares its statements once
    stage.pay(Purchase(customer="another"))
    first, few = _pages(brand, connection["id"])
    drain()
    for number in range(30):
        stage.pay(Purchase(customer=str(number)))
    more, many = _pages(brand, connection["id"])
    drain()
    again, known = _pages(brand, connection["id"])

    assert (first.new, more.new, again.new) == (2, 60, 0)
    assert "Budget: 2 statements" in (reconcile.take.__doc__ or "")
    assert max(few + many + known) <= 2 + 1  # and the commit
