"""Fleets die, or freeze, with a lease that is far off: their silence gives what they held to others."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

# No lease ends while one of these tests runs, and as many sales as other jobs are handed out ahead.
_LONG_LEASE = {"JOB_LEASE_S": "3600", "JOB_SLOTS_SALES": "16"}
# A receiver that does not answer has its deliveries in its hands for as long as a test takes.
_LONG_CALL = _LONG_LEASE | {"WEBHOOK_TIMEOUT_S": "60"}
# What is asked of 95 in 100 jobs is 20 s from the end of their fleet; a busy machine may take twice that, besides what
# another fleet takes to start there.
_WITHIN_S = 40


@contextmanager
def _long_leases(machine: Machine, *fleets: str) -> Iterator[None]:
    machine.kill("relay", *fleets)
    machine.start("relay", *fleets, told=_LONG_CALL)
    yield


def test_kill_9_of_fleets_has_every_job_of_theirs_done_within_20_seconds(machine: Machine, shop: Shop) -> None:
    # given: four overrides in mid-transaction, others fetched and not begun; four deliveries in the receiver's hands,
    # which are its endpoint's share, and others that wait for them
    with _long_leases(machine, "workers", "webhooks"):
        endpoint = shop.subscribe()
        shop.gate.shut("/hook")
        shop.sell_many(4)
        machine.until(lambda: shop.gate.held["/hook"] == 4, "the receiver has as many as it may")
        with machine.holding(f"select from affiliate where id = '{shop.rita}' for update"):
            shop.sell_many(40)
            machine.until_waiting(4)
            machine.until(lambda: _out(machine, "sales") > 20, "others are handed out")

            # when
            machine.kill("workers", "webhooks")
        left = {job for (job,) in machine.rows("select id from job where organization_id = %s", shop.id)}
        handed_out = "select count(*) from job where fair_key = %s and deadline > now() and taken_with is null"
        shares = machine.rows(handed_out, str(endpoint))
        shop.gate.open()
        machine.start("workers", "webhooks", told=_LONG_LEASE)
        done_after_s = _until_done(machine, left)

    # then
    assert shares == [(4,)]
    assert len(done_after_s) > 40
    assert sorted(done_after_s)[int(len(done_after_s) * 0.95) - 1] < _WITHIN_S
    outcome.check(machine, shop)
    assert _fetched(machine) == 0


def test_a_fleet_that_freezes_loses_its_calls_to_another_and_undoes_nothing_when_it_wakes(
    machine: Machine, shop: Shop
) -> None:
    # given: the deliveries of a sale in the receiver's hands, both or one after the other
    with _long_leases(machine, "webhooks"):
        shop.subscribe()
        shop.gate.shut("/hook")
        shop.sell()
        machine.until(lambda: shop.gate.held["/hook"] > 0, "the receiver is called")

        # when
        machine.pause("webhooks")
        held = shop.gate.held["/hook"]
        machine.start("webhooks-2", told=_LONG_LEASE)
        machine.until(lambda: shop.gate.most["/hook"] > held, "another calls", within_s=_WITHIN_S)
        shop.gate.open()
        machine.settle()
        machine.resume("webhooks")
        again = "select from worker_process where queues = '{webhooks}' having count(*) = 2"
        machine.until(lambda: bool(machine.rows(again)), "the first fleet speaks again")

        # then
        outcome.check(machine, shop)
        machine.until(lambda: _fetched(machine) == 0, "nothing is left in anybody's hands")


def test_pointers_that_nobody_took_wait_in_the_broker_for_the_next_fleet(machine: Machine, shop: Shop) -> None:
    # given: jobs that were handed out to a fleet that is dead, which the relay has yet to learn
    with _long_leases(machine, "workers"):
        machine.kill("workers")
        shop.sell_many(20)
        machine.execute("update worker_process set seen_at = now()")
        machine.until(lambda: _out(machine, "sales") == 20, "they are handed out")

        # when
        machine.start("workers", told=_LONG_LEASE)

        # then
        outcome.check(machine, shop)
        machine.until(lambda: not machine.valkey().exists("finderfee:sales.msgs"), "the broker holds nothing any more")


def test_no_more_is_handed_out_than_the_living_take_once_the_dead_are_silent(machine: Machine, shop: Shop) -> None:
    # given: a job in each thread's hand, four threads in a fleet, and of two fleets one dies
    machine.kill("relay")
    machine.start("relay", told=_LONG_LEASE | {"JOB_SLOTS_SALES": "1"})
    machine.start("workers-2")
    machine.kill("workers")
    speaking = "select from worker_process where 'sales' = any(queues) and seen_at > now() - interval '12 s'"
    machine.until(lambda: len(machine.rows(speaking)) == 1, "the dead one is silent", within_s=_WITHIN_S)

    # when: there is more to do than both could take
    with machine.holding(f"select from affiliate where id = '{shop.rita}' for update"):
        shop.sell_many(40)
        machine.until_waiting(4)

        # then
        assert _out(machine, "sales") == 4
    outcome.check(machine, shop)


def _out(machine: Machine, queue: str) -> int:
    return int(machine.rows("select count(*) from job where queue = %s and deadline > now()", queue)[0][0])


def _fetched(machine: Machine) -> int:
    """Return how many messages the broker believes to be in somebody's hands."""
    return sum(machine.valkey().scard(key) for key in machine.valkey().scan_iter("finderfee:__acks__.*"))


def _until_done(machine: Machine, jobs: set[int]) -> list[float]:
    """Return after how many seconds from now each of the jobs was done."""
    after_s: list[float] = []
    begun = time.monotonic()

    def are_done() -> bool:
        left = {job for (job,) in machine.rows("select id from job where id = any(%s)", list(jobs))}
        after_s.extend([time.monotonic() - begun] * (len(jobs) - len(left) - len(after_s)))
        return not left

    machine.until(are_done, "every job is done")
    machine.note(f"done after {after_s[0]:.1f} to {after_s[-1]:.1f} s")
    return after_s
