"""A worker is killed while it books a gateway event, between any two of its writes: each happens once."""

from contextlib import closing

import pytest

from adapters.embedded import data_folder
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine
from tests.support.installation.process_killer import ProcessKiller
from tests.support.installation.proxy import Proxy

_DUE = "select from job where organization_id = %s and (deadline is not null or run_at <= now())"
_MONEY = "refunded_cents, reversed_cents, status, disputed_at is not null"


def test_kill_9_within_a_booking_leaves_nothing_of_it(machine: Machine, shop: GatewayShop) -> None:
    # given: a payment whose conversion is written and whose aliases are not; a refund that is stored and not subtracted
    # from its conversion; a dispute that waits for its conversion; and a lost dispute that is not refunded yet
    shop.subscribe()
    refunded, disputed, lost = (shop.pay(customer=str(number)) for number in range(3))
    shop.deliver(*refunded.notifications, *disputed.notifications, *lost.notifications)
    machine.wait_until_settled()
    new = shop.pay(customer="new")
    shop.refunded_cents[lost.id] = 10_000
    with machine.hold_locks(
        "lock table gateway_alias in share mode",
        "lock table refund in share mode",
        f"select from conversion where external_event_id = '{disputed.id}' for update",
    ):
        shop.deliver(
            new.notifications[0],
            *shop.refund(refunded, 4_000),
            *shop.stage.dispute(disputed, "opened"),
            *shop.stage.dispute(lost, "lost"),
        )
        machine.wait_for_lock_waiters(4)

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()
    assert shop.events("status")[-4:] == [("Received",)] * 4
    assert _list_conversions(machine, shop) == [(0, 0, "Pending", False)] * 3

    # then
    machine.start("gateways")
    shop.deliver(new.notifications[1])
    outcome.check(machine, shop)
    assert _list_conversions(machine, shop) == [
        (0, 0, "Pending", False),
        (0, 0, "Pending", True),
        (4_000, 800, "Pending", False),
        (10_000, 2_000, "Refunded", False),
    ]
    row_counts = (
        "select (select count(*) from gateway_refund g where g.organization_id = o.id), (select count(*) from refund r"
    )
    row_counts += (
        " where r.organization_id = o.id), (select count(*) from gateway_payment p where p.organization_id = o.id)"
    )
    assert machine.rows(f"{row_counts} from organization o where id = %s", shop.id) == [(2, 2, 4)]


@pytest.mark.parametrize("last_event", ["payment", "alias", "refund", "dispute"])
def test_kill_9_after_the_commit_of_a_booking_books_nothing_twice(
    machine: Machine, shop: GatewayShop, last_event: str
) -> None:
    # given: a fleet that is killed when the database has booked an event and confirms the commit
    shop.subscribe()
    sale = shop.pay()
    notifications = {
        "payment": sale.notifications[:1],
        "alias": sale.notifications[1:],
        "refund": shop.refund(sale, 4_000),
        "dispute": shop.stage.dispute(sale, "lost"),
    }
    (last,) = notifications.pop(last_event)
    if last_event == "dispute":
        shop.refunded_cents[sale.id] = 10_000
    else:
        del notifications["dispute"]
    shop.deliver(*(notification for group in notifications.values() for notification in group))
    machine.wait_until(lambda: not machine.rows(_DUE, shop.id), "all other events are booked or parked")
    booked = (
        "select from gateway_event where organization_id = %s having count(*) filter (where status = 'Processed') > %s"
    )
    processed_before = len([status for (status,) in shop.events("status") if status == "Processed"])

    def is_booked(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(booked, shop.id, processed_before))

    killer = ProcessKiller(machine, "gateways", should_kill=is_booked)
    machine.kill("gateways")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=killer)) as proxy:
        machine.start("gateways", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        shop.deliver(last)
        killer.wait_until_dead()
    machine.start("gateways")

    # then
    shop.deliver(last)
    outcome.check(machine, shop)
    refunded = shop.refunded_cents[sale.id]
    assert _list_conversions(machine, shop) == [
        (refunded, refunded // 5, "Refunded" if refunded == 10_000 else "Pending", False)
    ]


def _list_conversions(machine: Machine, shop: GatewayShop) -> list[tuple[object, ...]]:
    statement = f"select {_MONEY} from conversion where organization_id = %s and parent_id is null order by 1, 4"
    return machine.rows(statement, shop.id)
