"""Fleets are killed, or freeze, with long leases: their jobs are dispatched again because they are silent."""

import time
from uuid import uuid4

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# As many slots for sales as for other jobs.
_MANY_SLOTS = {"JOB_SLOTS": "sales=16"}
# Deliveries to a receiver that does not respond stay open for as long as a test takes.
_LONG_TIMEOUT = {"WEBHOOK_TIMEOUT_S": "60"}
# 95 in 100 jobs must be done 20 s after their fleet ended. A busy machine may take several times that, in addition to
# the start of another fleet; a lease takes an hour.
_WITHIN_S = 90
_IN_SALES = "select id::text from worker_process where 'sales' = any(queues)"


def test_jobs_of_killed_fleets_are_done_within_20_seconds(machine: Machine, shop: Shop) -> None:
    # given: four overrides in the middle of a transaction, and others fetched and not begun; four deliveries without a
    # response, which are the endpoint's share, and others that wait for them
    machine.lengthen_leases()
    machine.kill("relay", "webhooks")
    machine.start("relay", "webhooks", variables=_MANY_SLOTS | _LONG_TIMEOUT)
    endpoint = shop.subscribe()
    shop.gate.shut("/hook")
    _sell_until_calls_wait(machine, shop, 4)
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _sell_until_threads_wait(machine, shop, 4)
        shop.sell_many(36)
        machine.wait_until(lambda: _count_leased(machine, "sales") > 20, "other sales are dispatched")

        # when
        machine.kill("workers", "webhooks")
    unfinished = {job for (job,) in machine.rows("select id from job where organization_id = %s", shop.id)}
    dispatched = "select count(*) from job where fair_key = %s and deadline > now() and taken_with is null"
    endpoint_share = machine.rows(dispatched, str(endpoint))
    shop.gate.open()
    machine.start("workers", "webhooks")
    done_after_s = _measure_until_done(machine, unfinished)

    # then
    assert endpoint_share == [(4,)]
    assert len(done_after_s) > 40
    assert sorted(done_after_s)[int(len(done_after_s) * 0.95) - 1] < _WITHIN_S
    outcome.check(machine, shop)
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "the broker has no unacknowledged messages")


def test_calls_of_a_frozen_fleet_are_repeated_without_a_double_effect(machine: Machine, shop: Shop) -> None:
    # given: two deliveries without a response, so that their sender is in no transaction
    machine.lengthen_leases()
    machine.kill("webhooks")
    machine.start("webhooks", variables=_LONG_TIMEOUT)
    shop.subscribe(events=["conversion.created"])
    shop.gate.shut("/hook")
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _sell_until_calls_wait(machine, shop, 2)

        # when: the fleet freezes, and another one also gets the deliveries of the overrides
        machine.pause("webhooks")
    machine.start("webhooks-2", variables=_LONG_TIMEOUT)
    second_attempt = "select from delivery where organization_id = %s and attempt_count = 2"
    machine.wait_until(lambda: bool(machine.rows(second_attempt, shop.id)), "the other fleet repeats a delivery")
    shop.gate.open()
    machine.wait_until_settled()
    ((resumed_at,),) = machine.rows("select clock_timestamp()")
    machine.resume("webhooks")
    both = "select from worker_process where queues = '{webhooks}' and seen_at > %s having count(*) = 2"
    machine.wait_until(lambda: bool(machine.rows(both, resumed_at)), "the first fleet announces itself again")

    # then
    outcome.check(machine, shop)
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "the broker has no unacknowledged messages")


def test_untaken_pointers_wait_for_the_next_fleet(machine: Machine, shop: Shop) -> None:
    # given: jobs that were dispatched to a dead fleet, which the relay has not noticed yet
    machine.lengthen_leases()
    machine.kill("relay", "workers")
    machine.start("relay", variables=_MANY_SLOTS)
    dead_process_id = uuid4()

    def is_dispatched() -> bool:
        machine.execute(_ANNOUNCE, str(dead_process_id))
        return _count_leased(machine, "sales") == 20

    shop.sell_many(20)
    machine.wait_until(is_dispatched, "all sales are dispatched")

    # when
    machine.start("workers")

    # then
    outcome.check(machine, shop)
    machine.wait_until(lambda: not machine.valkey().exists("finderfee:sales.msgs"), "the broker has no messages left")


def test_dispatch_follows_live_fleets_after_silence(machine: Machine, shop: Shop) -> None:
    # given: one slot per thread, four threads per fleet, and two fleets, of which one is killed and has been silent for
    # long enough to be considered dead
    machine.lengthen_leases()
    machine.kill("relay", "workers")
    dead_process_ids = [process_id for (process_id,) in machine.rows(_IN_SALES)]
    machine.start("relay", "workers-2", variables={"JOB_SLOTS": "sales=1"})
    machine.execute(
        "update worker_process set seen_at = now() - interval '12 s' where id::text = any(%s)", dead_process_ids
    )

    # when: there are more jobs than both fleets have slots
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _sell_until_threads_wait(machine, shop, 4)
        shop.sell_many(36)

        # then: fewer, if the machine is so slow that a lock wait has timed out
        assert _count_leased(machine, "sales") <= 4
    outcome.check(machine, shop)


# The announcement that a fleet of four threads repeats every few seconds.
_ANNOUNCE = """
insert into worker_process (id, queues, threads) values (%s, '{sales}', 4)
on conflict (id) do update set seen_at = now()
"""


def _sell_until_calls_wait(machine: Machine, shop: Shop, calls: int) -> None:
    """Sell until the receiver has this many open deliveries.

    One sale after the other, so that no sender batches deliveries and sends them one by one.
    """
    while (open_requests := shop.gate.open_requests["/hook"]) < calls:
        shop.sell()
        machine.wait_until(
            lambda: shop.gate.open_requests["/hook"] > open_requests, "the receiver has one more delivery"
        )


def _sell_until_threads_wait(machine: Machine, shop: Shop, threads: int) -> None:
    """Sell until this many threads wait for a lock with an override, one after the other for the same reason."""
    for number in range(threads):
        shop.sell()
        machine.wait_for_lock_waiters(number + 1)


def _count_leased(machine: Machine, queue: str) -> int:
    return int(machine.rows("select count(*) from job where queue = %s and deadline > now()", queue)[0][0])


def _measure_until_done(machine: Machine, jobs: set[int]) -> list[float]:
    """Wait until all these jobs are done; return after how many seconds each of them was done."""
    after_s: list[float] = []
    started_s = time.monotonic()

    def are_done() -> bool:
        left = {job for (job,) in machine.rows("select id from job where id = any(%s)", list(jobs))}
        after_s.extend([time.monotonic() - started_s] * (len(jobs) - len(left) - len(after_s)))
        return not left

    machine.wait_until(are_done, "every job is done")
    machine.note(f"done after {after_s[0]:.1f} to {after_s[-1]:.1f} s")
    return after_s
