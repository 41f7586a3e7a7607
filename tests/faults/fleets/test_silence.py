"""Fleets die, or freeze, with a lease that is far off: their silence gives what they held to others."""

import time
from uuid import uuid4

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# As many sales as other jobs are handed out ahead.
_MANY_SLOTS = {"JOB_SLOTS": "sales=16"}
# A receiver that does not answer has its deliveries in its hands for as long as a test takes.
_LONG_CALL = {"WEBHOOK_TIMEOUT_S": "60"}
# What is asked of 95 in 100 jobs is 20 s from the end of their fleet. A busy machine may take several times that,
# besides what another fleet takes to start there; the lease takes an hour.
_WITHIN_S = 90
_IN_SALES = "select id::text from worker_process where 'sales' = any(queues)"


def test_jobs_of_killed_fleets_are_done_within_20_seconds(machine: Machine, shop: Shop) -> None:
    # given: four overrides in mid-transaction, others fetched and not begun; four deliveries in the receiver's hands,
    # which are its endpoint's share, and others that wait for them
    machine.lengthen_leases()
    machine.kill("relay", "webhooks")
    machine.start("relay", "webhooks", variables=_MANY_SLOTS | _LONG_CALL)
    endpoint = shop.subscribe()
    shop.gate.shut("/hook")
    _hold_calls(machine, shop, 4)
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _hold_up(machine, shop, 4)
        shop.sell_many(36)
        machine.wait_until(lambda: _count_leased(machine, "sales") > 20, "others are handed out")

        # when
        machine.kill("workers", "webhooks")
    left = {job for (job,) in machine.rows("select id from job where organization_id = %s", shop.id)}
    handed_out = "select count(*) from job where fair_key = %s and deadline > now() and taken_with is null"
    shares = machine.rows(handed_out, str(endpoint))
    shop.gate.open()
    machine.start("workers", "webhooks")
    done_after_s = _until_done(machine, left)

    # then
    assert shares == [(4,)]
    assert len(done_after_s) > 40
    assert sorted(done_after_s)[int(len(done_after_s) * 0.95) - 1] < _WITHIN_S
    outcome.check(machine, shop)
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "nothing is left in anybody's hands")


def test_frozen_fleet_loses_its_calls_and_undoes_nothing(machine: Machine, shop: Shop) -> None:
    # given: two deliveries in the receiver's hands, so that their sender is in no transaction
    machine.lengthen_leases()
    machine.kill("webhooks")
    machine.start("webhooks", variables=_LONG_CALL)
    shop.subscribe(events=["conversion.created"])
    shop.gate.shut("/hook")
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _hold_calls(machine, shop, 2)

        # when: it freezes, and another is told of the overrides as well
        machine.pause("webhooks")
    machine.start("webhooks-2", variables=_LONG_CALL)
    again = "select from delivery where organization_id = %s and attempt_count = 2"
    machine.wait_until(lambda: bool(machine.rows(again, shop.id)), "another calls")
    shop.gate.open()
    machine.wait_until_settled()
    ((awake_at,),) = machine.rows("select clock_timestamp()")
    machine.resume("webhooks")
    both = "select from worker_process where queues = '{webhooks}' and seen_at > %s having count(*) = 2"
    machine.wait_until(lambda: bool(machine.rows(both, awake_at)), "the first fleet speaks again")

    # then
    outcome.check(machine, shop)
    machine.wait_until(lambda: machine.count_unacknowledged() == 0, "nothing is left in anybody's hands")


def test_untaken_pointers_wait_for_the_next_fleet(machine: Machine, shop: Shop) -> None:
    # given: jobs that were handed out to a fleet that is dead, which the relay has yet to learn
    machine.lengthen_leases()
    machine.kill("relay", "workers")
    machine.start("relay", variables=_MANY_SLOTS)
    dead = uuid4()

    def is_handed_out() -> bool:
        machine.execute(_SPEAK, str(dead))
        return _count_leased(machine, "sales") == 20

    shop.sell_many(20)
    machine.wait_until(is_handed_out, "they are handed out")

    # when
    machine.start("workers")

    # then
    outcome.check(machine, shop)
    machine.wait_until(lambda: not machine.valkey().exists("finderfee:sales.msgs"), "the broker holds nothing any more")


def test_dispatch_follows_live_fleets_after_silence(machine: Machine, shop: Shop) -> None:
    # given: a job in each thread's hand, four threads in a fleet, and of two fleets one dies, and has been silent for
    # as long as that takes
    machine.lengthen_leases()
    machine.kill("relay", "workers")
    dead = [process_id for (process_id,) in machine.rows(_IN_SALES)]
    machine.start("relay", "workers-2", variables={"JOB_SLOTS": "sales=1"})
    machine.execute("update worker_process set seen_at = now() - interval '12 s' where id::text = any(%s)", dead)

    # when: there is more to do than both could take
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        _hold_up(machine, shop, 4)
        shop.sell_many(36)

        # then: fewer, where the machine is so slow that one has waited for its lock as long as anybody may
        assert _count_leased(machine, "sales") <= 4
    outcome.check(machine, shop)


# What a fleet of four threads says every few seconds.
_SPEAK = """
insert into worker_process (id, queues, threads) values (%s, '{sales}', 4)
on conflict (id) do update set seen_at = now()
"""


def _hold_calls(machine: Machine, shop: Shop, calls: int) -> None:
    """Sell until the receiver has so many deliveries in its hands, whose sender waits for it alone.

    One after the other, or a sender might take one along with another and have them told one by one.
    """
    while (held := shop.gate.open_requests["/hook"]) < calls:
        shop.sell()
        machine.wait_until(lambda: shop.gate.open_requests["/hook"] > held, "the receiver has one more")


def _hold_up(machine: Machine, shop: Shop, threads: int) -> None:
    """Sell until so many threads wait for a lock with an override, one after the other for the same reason."""
    for number in range(threads):
        shop.sell()
        machine.wait_for_lock_waiters(number + 1)


def _count_leased(machine: Machine, queue: str) -> int:
    return int(machine.rows("select count(*) from job where queue = %s and deadline > now()", queue)[0][0])


def _until_done(machine: Machine, jobs: set[int]) -> list[float]:
    """Return after how many seconds from now each of the jobs was done."""
    after_s: list[float] = []
    begun = time.monotonic()

    def are_done() -> bool:
        left = {job for (job,) in machine.rows("select id from job where id = any(%s)", list(jobs))}
        after_s.extend([time.monotonic() - begun] * (len(jobs) - len(left) - len(after_s)))
        return not left

    machine.wait_until(are_done, "every job is done")
    machine.note(f"done after {after_s[0]:.1f} to {after_s[-1]:.1f} s")
    return after_s
