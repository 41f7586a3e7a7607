"""A gateway's events come in while the web server dies, many times, and for several brands: each is kept once."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from adapters.embedded import data_folder
from tests.support.gateways.billing.paddle import PaddleStage
from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine
from tests.support.installation.process_killer import ProcessKiller
from tests.support.installation.proxy import Proxy


@pytest.fixture
def paddle(machine: Machine) -> Iterator[GatewayShop]:
    """Return a new shop with a connection to paddle, whose refunds each have an amount of their own."""
    stage = PaddleStage(machine.gateway_port)
    with closing(GatewayShop(machine, stage)) as opened:
        yield opened
    stage.stop()


def test_event_resent_after_a_killed_web_process_counts_once(machine: Machine, till: GatewayShop) -> None:
    # given: a web server that dies in the moment in which the database has kept an event, and says so
    sale = till.pay()
    till.subscribe()
    kept = "select from gateway_event where organization_id = %s"

    dying = ProcessKiller(
        machine, "web", should_kill=lambda read: b"COMMIT" in read and bool(machine.rows(kept, till.id))
    )

    machine.kill("web")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=dying)) as proxy:
        machine.start("web", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        assert till.send_once(till.path, sale.notifications[0].body, sale.notifications[0].headers) is None
        dying.wait_until_dead()
    machine.start("web")
    till.deliver(*sale.notifications)

    # then
    outcome.check(machine, till)
    assert till.events("type, status") == [("invoice.paid", "Processed"), ("invoice_payment.paid", "Processed")]


def test_ten_concurrent_deliveries_count_once(machine: Machine, till: GatewayShop) -> None:
    till.subscribe()
    sale = till.pay()
    events = [*sale.notifications, *till.refund(sale, 4_000)]

    till.deliver_concurrently(*events * 10)

    outcome.check(machine, till)
    assert sorted(till.events("type")) == [("charge.refunded",), ("invoice.paid",), ("invoice_payment.paid",)]
    assert dict(till.statuses) == {200: 30}


def test_ten_concurrent_refunds_add_up(machine: Machine, paddle: GatewayShop) -> None:
    paddle.subscribe()
    sale = paddle.pay()
    refunds = [sent for number in range(1, 11) for sent in paddle.refund(sale, 100 + number)]

    paddle.deliver_concurrently(*refunds, *sale.notifications)

    outcome.check(machine, paddle)
    assert paddle.refunded_cents[sale.id] == 1_055
    once_each = "select count(*), sum(refunded_cents) from gateway_refund where organization_id = %s"
    assert machine.rows(once_each, paddle.id) == [(10, 1_055)]


def test_ten_concurrent_refund_totals_end_at_the_last(machine: Machine, till: GatewayShop) -> None:
    till.subscribe()
    sale = till.pay()
    refunds = [sent for number in range(1, 11) for sent in till.refund(sale, 100 + number)]

    till.deliver_concurrently(*refunds, *sale.notifications)

    outcome.check(machine, till)
    assert till.refunded_cents[sale.id] == 1_055


def test_same_events_at_two_brands_stay_separate(machine: Machine, till: GatewayShop, stage: StripeStage) -> None:
    # given: two brands behind one account, so that what proves well for one proves well for the other
    with closing(GatewayShop(machine, stage)) as other:
        sale = till.pay()
        other.sold[sale.id] = None
        refund = till.refund(sale, 4_000)

        # when
        till.deliver_concurrently(*[*sale.notifications, *refund] * 3)
        other.deliver_concurrently(*sale.notifications * 3)

        # then: only the first was told of the refund
        outcome.check(machine, till)
        outcome.check(machine, other)
        assert len(till.events()) == 3
        assert len(other.events()) == 2
        crossed = (
            "select from gateway_payment p join conversion c on c.id = p.conversion_id"
            " join gateway_event e on e.id = p.event_id join gateway_alias a on a.payment_id = p.id"
            " where p.organization_id <> all (array[c.organization_id, e.organization_id, a.organization_id])"
            " or c.organization_id <> e.organization_id or c.organization_id <> a.organization_id"
        )
        assert machine.rows(crossed) == []
