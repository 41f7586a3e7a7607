"""A worker is killed, or paused, in the middle of each kind of job; each effect happens once."""

import threading
from contextlib import ExitStack

from tests.support.installation import outcome
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.outside.receiver import Handler, status


def test_kill_9_within_settle_override_and_cascade_leaves_each_effect_once(machine: Machine, shop: Shop) -> None:
    # given: four sales, one at each point where a worker can be killed, with an open transaction or a sent commit
    shop.subscribe()
    refunded = shop.sell()
    machine.wait_until_settled()
    with ExitStack() as locks:
        with machine.pause_queue("sales"):
            unsettled = shop.sell()
            locks.enter_context(
                machine.hold_locks(
                    f"select from sale where id = '{shop.sold[unsettled]}' for update",
                    f"select from affiliate where id = '{shop.rita}' for update",
                    f"select from conversion where parent_id = '{shop.sold[refunded]}' for update",
                )
            )
        # One after the other, so that no worker batches them.
        machine.wait_for_lock_waiters(1)
        shop.refund(refunded, 3_000)
        machine.wait_for_lock_waiters(2)
        without_override = shop.sell()
        machine.wait_for_lock_waiters(3)
        with machine.hold_locks("lock table affiliate_revenue in exclusive mode"):
            committing = shop.sell()
            machine.wait_for_lock_waiters(4)

            # when
            machine.kill("workers")

    # then
    machine.start("workers")
    outcome.check(machine, shop)
    assert set(shop.sold) == {refunded, without_override, unsettled, committing}
    assert _list_overrides(machine, shop) == [(200, 0), (200, 0), (200, 0), (200, 60)]


def test_kill_9_during_a_delivery_resends_it_with_the_same_id(machine: Machine, shop: Shop) -> None:
    # given: a delivery that the receiver has not responded to
    shop.subscribe()
    shop.gate.shut("/hook")
    shop.sell()
    machine.wait_until(lambda: shop.gate.open_requests["/hook"] > 0, "the receiver is called")

    # when
    machine.kill("webhooks")
    shop.gate.open()
    machine.start("webhooks")

    # then
    outcome.check(machine, shop)
    attempts = machine.rows("select attempt_count from delivery where organization_id = %s", shop.id)
    assert max(attempts) >= (2,)  # or more, if the machine was too slow to respond within a second
    assert len(shop.receiver.received) > len(attempts)


def test_worker_paused_past_its_lease_repeats_no_effect(machine: Machine, shop: Shop) -> None:
    # given: a fleet that has fetched messages and not begun them, because all its threads wait for locks
    shop.subscribe("/hook")
    machine.lengthen_leases()
    with ExitStack() as locks:
        with machine.pause_queue("sales"):
            shop.sell_many(4)
            locks.enter_context(machine.hold_locks(f"select from sale where organization_id = '{shop.id}' for update"))
        machine.wait_for_lock_waiters(4)
        prefetched = [shop.sell() for _ in range(4)]
        machine.wait_until(lambda: _count_dispatched(machine, shop) == 8, "every sale is dispatched")
        machine.wait_until(lambda: not _count_queued(machine), "the fleet has fetched every message")

        # when: the fleet is paused, its leases end, and another fleet takes over
        machine.pause("workers")
        machine.end_leases(shop.id, skip_locked=True)
        machine.start("workers-2")
        machine.wait_until(
            lambda: all(_is_settled(machine, shop.sold[sale]) for sale in prefetched),
            "the other fleet settles the sales",
        )

    # then: the resumed fleet has messages for jobs that are done
    machine.resume("workers")
    outcome.check(machine, shop)


def test_sender_paused_past_its_lease_keeps_the_newer_result(machine: Machine, shop: Shop) -> None:
    # given: a delivery without a response for as long as the test takes, so that its sender is in no transaction
    machine.kill("webhooks")
    machine.start("webhooks", variables={"WEBHOOK_TIMEOUT_S": "60"})
    machine.lengthen_leases()
    shop.subscribe()
    may_close = threading.Event()
    shop.receiver.answers = [lambda handler: _disconnect(handler, after=may_close), status(200)]
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        shop.sell()
        machine.wait_until(lambda: len(shop.receiver.received) == 1, "the receiver is called")

        # when: its sender is paused, another one delivers, and then the first one sees that its connection is closed
        machine.pause("webhooks")
        machine.end_leases(shop.id, skip_locked=True)
    machine.start("webhooks-2")
    machine.wait_until_settled()
    may_close.set()
    machine.resume("webhooks")
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "the broker has no unacknowledged messages")

    # then
    outcome.check(machine, shop)


def _disconnect(handler: Handler, *, after: threading.Event) -> None:
    after.wait(PATIENCE_S)
    handler.close_connection = True


def _list_overrides(machine: Machine, shop: Shop) -> list[tuple[int, int]]:
    return machine.rows(
        "select commission_cents, reversed_cents from conversion where organization_id = %s and parent_id is not null"
        " order by reversed_cents",
        shop.id,
    )


def _count_dispatched(machine: Machine, shop: Shop) -> int:
    sql = "select count(*) from job where organization_id = %s and name = 'sale.settle' and attempt = 1"
    return int(machine.rows(sql, shop.id)[0][0])


def _count_queued(machine: Machine) -> int:
    return int(machine.valkey().llen("finderfee:sales"))


def _is_settled(machine: Machine, conversion_id: str | None) -> bool:
    return bool(machine.rows("select from sale where id = %s and settled_at is not null", conversion_id))
