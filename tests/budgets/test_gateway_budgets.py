"""Round trips and statements of what a connected gateway sends, from the inbox to the ledger.

Every path runs once before it is counted: a connection prepares its statements when it first meets them.
"""

import re
from collections.abc import Callable

import pytest

from models import db
from pipelines.gateways import reverse, sell
from tests.budgets.test_budgets import Counted
from tests.support.draining import drain, hand_out, run
from tests.support.gateways.playing import connected, played
from tests.support.gateways.stage import Purchase

# The job's row, the event, its connection, the parameters; the job's row again, the event under its lock, the commit.
_OF_THE_JOB = 7


@pytest.fixture
def shop(brand):
    """Return a brand with jane at 20 %, stripe on the stage, and what sends to its connection."""
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("jane")
    with played("stripe") as stage:
        path = "/" + connected(brand.person("Owner"), stage)["webhookUrl"].split("/", 3)[3]
        client = brand.app.test_client()

        def send(sent):
            assert client.post(path, data=sent.body, headers=dict(sent.headers)).status_code == 200

        for _ in range(7):  # as often as it takes until every statement is prepared
            sale = stage.pay(Purchase())
            for sent in (*sale.sent, *stage.refund(sale, 100)):
                send(sent)
            drain()
        yield stage, send


def _said(function: Callable[..., object]) -> int:
    found = re.search(r"Budget: (\d+) round trips", function.__doc__ or "")
    assert found, f"{function.__qualname__} states no budget"
    return int(found[1])


def _counted(act: Callable[[], object]) -> Counted:
    counted = Counted()
    db.db.trip_hooks.append(counted.trips.append)
    try:
        act()
    finally:
        db.db.trip_hooks.remove(counted.trips.append)
    return counted


def _booked() -> Counted:
    (pointer,) = hand_out(("gateways",))
    return _counted(lambda: run(pointer))


def test_accepting_an_event_is_a_look_up_and_an_insert(shop):
    stage, send = shop
    (event, _) = stage.pay(Purchase()).sent
    # Its proof is looked at between the two transactions, in none.
    counted = _counted(lambda: send(event))
    assert counted.numbers == (4, 8), counted
    again = _counted(lambda: send(event))
    assert again.numbers <= (4, 7), again


def test_booking_a_payment(shop):
    stage, send = shop
    send(stage.pay(Purchase()).sent[0])
    counted = _booked()
    assert _said(sell.payment) == 5
    assert counted.numbers == (_OF_THE_JOB + 5, 25), counted


def test_booking_a_refund(shop):
    stage, send = shop
    sale = stage.pay(Purchase())
    for sent in sale.sent:
        send(sent)
    drain()
    (refund,) = stage.refund(sale, 100)
    send(refund)
    counted = _booked()
    assert _said(reverse.refunded) == 5
    assert counted.numbers == (_OF_THE_JOB + 5, 27), counted
