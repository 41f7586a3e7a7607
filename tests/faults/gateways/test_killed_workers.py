"""A worker dies while it books what a gateway told, between any two of its writes: each is there once, or not yet."""

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


def test_kill_9_within_a_booking_leaves_nothing_of_it(machine: Machine, till: GatewayShop) -> None:
    # given: a payment whose conversion is written and whose other ids are not; a refund that is kept and not taken from
    # the conversion; a dispute whose conversion waits; and a lost one that has not given back
    till.subscribe()
    refunded, disputed, lost = (till.pay(customer=str(number)) for number in range(3))
    till.deliver(*refunded.notifications, *disputed.notifications, *lost.notifications)
    machine.wait_until_settled()
    new = till.pay(customer="new")
    till.refunded_cents[lost.id] = 10_000
    with machine.hold_locks(
        "lock table gateway_alias in share mode",
        "lock table refund in share mode",
        f"select from conversion where external_event_id = '{disputed.id}' for update",
    ):
        till.deliver(
            new.notifications[0],
            *till.refund(refunded, 4_000),
            *till.stage.dispute(disputed, "opened"),
            *till.stage.dispute(lost, "lost"),
        )
        machine.wait_for_lock_waiters(4)

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()
    assert till.events("status")[-4:] == [("Received",)] * 4
    assert _conversions(machine, till) == [(0, 0, "Pending", False)] * 3

    # then
    machine.start("gateways")
    till.deliver(new.notifications[1])
    outcome.check(machine, till)
    assert _conversions(machine, till) == [
        (0, 0, "Pending", False),
        (0, 0, "Pending", True),
        (4_000, 800, "Pending", False),
        (10_000, 2_000, "Refunded", False),
    ]
    once = (
        "select (select count(*) from gateway_refund g where g.organization_id = o.id), (select count(*) from refund r"
    )
    once += " where r.organization_id = o.id), (select count(*) from gateway_payment p where p.organization_id = o.id)"
    assert machine.rows(f"{once} from organization o where id = %s", till.id) == [(2, 2, 4)]


@pytest.mark.parametrize("told", ["payment", "alias", "refund", "dispute"])
def test_kill_9_after_the_commit_of_a_booking_books_nothing_twice(
    machine: Machine, till: GatewayShop, told: str
) -> None:
    # given: a fleet that dies in the moment in which the database has booked an event, and says so
    till.subscribe()
    sale = till.pay()
    sent = {
        "payment": sale.notifications[:1],
        "alias": sale.notifications[1:],
        "refund": till.refund(sale, 4_000),
        "dispute": till.stage.dispute(sale, "lost"),
    }
    (last,) = sent.pop(told)
    if told == "dispute":
        till.refunded_cents[sale.id] = 10_000
    else:
        del sent["dispute"]
    till.deliver(*(one for others in sent.values() for one in others))
    machine.wait_until(lambda: not machine.rows(_DUE, till.id), "all that was told is booked, or waits for the rest")
    booked = (
        "select from gateway_event where organization_id = %s having count(*) filter (where status = 'Processed') > %s"
    )
    before = len([status for (status,) in till.events("status") if status == "Processed"])

    def is_booked(read: bytes) -> bool:
        return b"COMMIT" in read and bool(machine.rows(booked, till.id, before))

    dying = ProcessKiller(machine, "gateways", should_kill=is_booked)
    machine.kill("gateways")
    with closing(Proxy(data_folder.resolve(machine.home).postgres_socket, on_reply=dying)) as proxy:
        machine.start("gateways", variables={"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        till.deliver(last)
        dying.wait_until_dead()
    machine.start("gateways")

    # then
    till.deliver(last)
    outcome.check(machine, till)
    refunded = till.refunded_cents[sale.id]
    assert _conversions(machine, till) == [
        (refunded, refunded // 5, "Refunded" if refunded == 10_000 else "Pending", False)
    ]


def _conversions(machine: Machine, till: GatewayShop) -> list[tuple[object, ...]]:
    statement = f"select {_MONEY} from conversion where organization_id = %s and parent_id is null order by 1, 4"
    return machine.rows(statement, till.id)
