"""A worker dies, or falls asleep, in the middle of every kind of work; each effect happens once."""

import threading
from contextlib import ExitStack

from tests.support.installation import outcome
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.outside.receiver import Handler, status


def test_kill_9_within_settle_override_and_cascade_leaves_each_effect_once(machine: Machine, shop: Shop) -> None:
    # given: four sales, one at each point where a worker can die with a transaction open or its commit sent
    shop.subscribe()
    refunded = shop.sell()
    machine.wait_until_settled()
    with ExitStack() as held:
        with machine.pause_queue("sales"):
            unsettled = shop.sell()
            held.enter_context(
                machine.hold_locks(
                    f"select from sale where id = '{shop.sold[unsettled]}' for update",
                    f"select from affiliate where id = '{shop.rita}' for update",
                    f"select from conversion where parent_id = '{shop.sold[refunded]}' for update",
                )
            )
        # One after the other, or a worker might take one along with another.
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
    assert _overrides(machine, shop) == [(200, 0), (200, 0), (200, 0), (200, 60)]


def test_kill_9_during_a_delivery_resends_it_with_the_same_id(machine: Machine, shop: Shop) -> None:
    # given: a delivery in the receiver's hands
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
    assert max(attempts) >= (2,)  # or more, where the machine was too slow to answer within a second
    assert len(shop.receiver.received) > len(attempts)


def test_worker_paused_past_its_lease_repeats_no_effect(machine: Machine, shop: Shop) -> None:
    # given: a fleet with pointers in its hands that it has not begun, because its threads are all held up
    shop.subscribe("/hook")
    machine.lengthen_leases()
    with ExitStack() as held:
        with machine.pause_queue("sales"):
            shop.sell_many(4)
            held.enter_context(machine.hold_locks(f"select from sale where organization_id = '{shop.id}' for update"))
        machine.wait_for_lock_waiters(4)
        prefetched = [shop.sell() for _ in range(4)]
        machine.wait_until(lambda: _count_dispatched(machine, shop) == 8, "every sale is handed out")
        machine.wait_until(lambda: not _count_queued(machine), "the fleet has fetched every pointer")

        # when: it sleeps, its leases end, and another fleet does its work
        machine.pause("workers")
        machine.end_leases(shop.id, skip_locked=True)
        machine.start("workers-2")
        machine.wait_until(lambda: all(_is_settled(machine, shop.sold[sale]) for sale in prefetched), "others settle")

    # then: it wakes up to pointers that are of no more use
    machine.resume("workers")
    outcome.check(machine, shop)


def test_sender_paused_past_its_lease_keeps_the_newer_result(machine: Machine, shop: Shop) -> None:
    # given: a delivery in the receiver's hands for as long as the test takes, so that its sender is in no transaction
    machine.kill("webhooks")
    machine.start("webhooks", variables={"WEBHOOK_TIMEOUT_S": "60"})
    machine.lengthen_leases()
    shop.subscribe()
    is_over = threading.Event()
    shop.receiver.answers = [lambda handler: _hang_up(handler, after=is_over), status(200)]
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        shop.sell()
        machine.wait_until(lambda: len(shop.receiver.received) == 1, "the receiver is called")

        # when: its sender sleeps, another delivers, and then the first one finds that nobody answered it
        machine.pause("webhooks")
        machine.end_leases(shop.id, skip_locked=True)
    machine.start("webhooks-2")
    machine.wait_until_settled()
    is_over.set()
    machine.resume("webhooks")
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "nothing is in the hands of the first one")

    # then
    outcome.check(machine, shop)


def _hang_up(handler: Handler, *, after: threading.Event) -> None:
    after.wait(PATIENCE_S)
    handler.close_connection = True


def _overrides(machine: Machine, shop: Shop) -> list[tuple[int, int]]:
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
