"""A gateway's events arrive while the web server is killed, repeatedly, and at two brands: each is stored once."""

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
    """Return a new shop connected to a fake Paddle, whose refund events have single amounts instead of totals."""
    stage = PaddleStage(machine.gateway_port)
    with closing(GatewayShop(machine, stage)) as shop:
        yield shop
    stage.stop()


def test_event_resent_after_a_killed_web_process_counts_once(machine: Machine, shop: GatewayShop) -> None:
    # given: a web server that is killed when the database has stored an event and confirms the commit
    sale = shop.pay()
    shop.subscribe()
    stored = "select from gateway_event where organization_id = %s"

    killer = ProcessKiller(
        machine, "web", should_kill=lambda read: b"COMMIT" in read and bool(machine.rows(stored, shop.id))
    )

    machine.kill("web")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=killer)) as proxy:
        machine.start("web", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        assert shop.send_once(shop.path, sale.notifications[0].body, sale.notifications[0].headers) is None
        killer.wait_until_dead()
    machine.start("web")
    shop.deliver(*sale.notifications)

    # then
    outcome.check(machine, shop)
    assert shop.events("type, status") == [("invoice.paid", "Processed"), ("invoice_payment.paid", "Processed")]


def test_ten_concurrent_deliveries_count_once(machine: Machine, shop: GatewayShop) -> None:
    shop.subscribe()
    sale = shop.pay()
    events = [*sale.notifications, *shop.refund(sale, 4_000)]

    shop.deliver_concurrently(*events * 10)

    outcome.check(machine, shop)
    assert sorted(shop.events("type")) == [("charge.refunded",), ("invoice.paid",), ("invoice_payment.paid",)]
    assert dict(shop.statuses) == {200: 30}


def test_ten_concurrent_refunds_add_up(machine: Machine, paddle: GatewayShop) -> None:
    paddle.subscribe()
    sale = paddle.pay()
    refunds = [notification for number in range(1, 11) for notification in paddle.refund(sale, 100 + number)]

    paddle.deliver_concurrently(*refunds, *sale.notifications)

    outcome.check(machine, paddle)
    assert paddle.refunded_cents[sale.id] == 1_055
    refund_totals = "select count(*), sum(refunded_cents) from gateway_refund where organization_id = %s"
    assert machine.rows(refund_totals, paddle.id) == [(10, 1_055)]


def test_ten_concurrent_refund_totals_end_at_the_last(machine: Machine, shop: GatewayShop) -> None:
    shop.subscribe()
    sale = shop.pay()
    refunds = [notification for number in range(1, 11) for notification in shop.refund(sale, 100 + number)]

    shop.deliver_concurrently(*refunds, *sale.notifications)

    outcome.check(machine, shop)
    assert shop.refunded_cents[sale.id] == 1_055


def test_same_events_at_two_brands_stay_separate(machine: Machine, shop: GatewayShop, stage: StripeStage) -> None:
    # given: two brands connected to one account, so that an event of one has a valid signature for the other
    with closing(GatewayShop(machine, stage)) as other_shop:
        sale = shop.pay()
        other_shop.sold[sale.id] = None
        refund = shop.refund(sale, 4_000)

        # when
        shop.deliver_concurrently(*[*sale.notifications, *refund] * 3)
        other_shop.deliver_concurrently(*sale.notifications * 3)

        # then: only the first brand received the refund
        outcome.check(machine, shop)
        outcome.check(machine, other_shop)
        assert len(shop.events()) == 3
        assert len(other_shop.events()) == 2
        mixed_rows = (
            "select from gateway_payment p join conversion c on c.id = p.conversion_id"
            " join gateway_event e on e.id = p.event_id join gateway_alias a on a.payment_id = p.id"
            " where p.organization_id <> all (array[c.organization_id, e.organization_id, a.organization_id])"
            " or c.organization_id <> e.organization_id or c.organization_id <> a.organization_id"
        )
        assert machine.rows(mixed_rows) == []
