"""How many round trips a gateway's payment takes to be booked where platforms are asked: not one more."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from models import db
from tests.support.draining import drain, hand_out, run
from tests.support.gateways.playing import connected, played
from tests.support.gateways.stage import Purchase
from tests.support.platforms import playing as platforms


@contextmanager
def _trips() -> Iterator[list[bytes]]:
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        yield trips
    finally:
        db.db.trip_hooks.remove(trips.append)


@pytest.fixture
def book(brand):
    """Return what sells and counts the trips in which the sale is booked."""
    brand.program()
    brand.affiliate("jane")
    with played() as stage:
        path = "/" + connected(brand.person("Owner"), stage)["webhookUrl"].split("/", 3)[3]

        def sell(slug: str | None) -> int:
            buyer = str(stage.number())  # two payments of one buyer would be looked at together
            sent = stage.pay(Purchase(slug=slug, customer=buyer, email=f"{buyer}@example.com")).sent[0]
            assert brand.app.test_client().post(path, data=sent.body, headers=dict(sent.headers)).status_code == 200
            (pointer,) = hand_out(["gateways"])
            with _trips() as trips:
                run(pointer)
            return len(trips)

        drain()  # and announces who takes jobs
        yield sell


@pytest.mark.parametrize("slug", ["jane", None])
def test_a_platform_costs_a_sale_no_round_trip(brand, book, slug):
    without = min(book(slug) for _ in range(4))  # one of them prepares a statement
    with platforms.asked() as platform:
        platforms.connected(brand.person("Owner"), platform)
        assert min(book(slug) for _ in range(4)) == without
    waiting = brand.rows("select count(*) from job where name = 'platform.lookup'")
    assert waiting == [(0 if slug else 4,)]
