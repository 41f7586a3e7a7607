"""Limits on the threads of a process that long jobs of one queue or one server may hold."""

from collections import Counter
from uuid import UUID

import pytest

from domain import jobs
from domain.thread_slots import ThreadSlots, Work, fair_key, has_long_jobs, server_of

_SHARED = ("webhooks", "payouts", "gateways", "lookups", "imports", "mail")


def _begin_all(slots: ThreadSlots, candidates: list[Work], queues: tuple[str, ...]) -> Counter[Work]:
    """Begin jobs of each kind in turn until no kind has room, and return the number of jobs started of each kind."""
    started: Counter[Work] = Counter()
    while startable := [work for work in candidates if slots.has_room(work, queues=queues)]:
        for work in startable:
            if slots.has_room(work, queues=queues):
                slots.begin(work)
                started[work] += 1
    return started


def _delivery(endpoint: str) -> Work:
    return Work("webhooks", jobs.WEBHOOK_DELIVER.name, endpoint)


def test_one_endpoint_holds_at_most_a_quarter_of_a_shared_process():
    slow_delivery = _delivery("slow")

    assert _begin_all(ThreadSlots(16), [slow_delivery], _SHARED) == {slow_delivery: 4}


@pytest.mark.parametrize("endpoints", [2, 3, 5, 7])
def test_slow_endpoints_leave_a_thread_for_another_endpoint(endpoints: int):
    slots = ThreadSlots(16)
    _begin_all(slots, [_delivery(f"slow {number}") for number in range(endpoints)], _SHARED)

    assert slots.has_room(_delivery("quick"), queues=_SHARED)


def test_many_endpoints_hold_at_most_half_of_a_shared_process():
    slots = ThreadSlots(16)
    started = _begin_all(slots, [_delivery(f"slow {number}") for number in range(20)], _SHARED)

    assert started.total() == 8


@pytest.mark.parametrize("threads", [6, 8, 12, 16])
def test_idle_queue_gets_a_thread_while_all_others_are_busy(threads: int):
    long_jobs = [job for job in jobs.ALL if job.queue in _SHARED and job.lease_s]
    for idle_queue in _SHARED:
        slots = ThreadSlots(threads)
        other_work = [
            Work(job.queue, job.name, f"{server}")
            for job in long_jobs
            if job.queue != idle_queue
            for server in range(9)
        ]
        _begin_all(slots, other_work, _SHARED)
        idle_work = next(Work(job.queue, job.name, "any") for job in long_jobs if job.queue == idle_queue)

        assert slots.has_room(idle_work, queues=_SHARED)
        slots.begin(idle_work)
        assert slots._by_queue.total() <= threads


def test_queue_may_use_every_thread_of_its_dedicated_process():
    started = _begin_all(ThreadSlots(16), [_delivery(f"{number}") for number in range(20)], ("webhooks",))

    assert started.total() == 16


def test_short_jobs_may_use_every_thread():
    slots, sale = ThreadSlots(4), Work("sales", jobs.SALE_SETTLE.name, "one brand")
    for _ in range(4):
        assert slots.has_room(sale, queues=("sales", "refunds", "tracking", "upkeep"))
        slots.begin(sale)


def test_single_thread_accepts_every_queue():
    slots = ThreadSlots(1)

    assert all(slots.has_room(Work(job.queue, job.name, "any"), queues=jobs.QUEUES) for job in jobs.ALL)


def test_finished_job_releases_its_thread():
    slots, slow_delivery = ThreadSlots(16), _delivery("slow")
    _begin_all(slots, [slow_delivery], _SHARED)

    slots.end(slow_delivery)

    assert _begin_all(slots, [slow_delivery], _SHARED) == {slow_delivery: 1}


def test_keys_of_two_organizations_share_a_server():
    first, second = (fair_key(organization_id, "Wallet") for organization_id in (UUID(int=1), UUID(int=2)))

    assert first != second
    assert server_of(first) == server_of(second) == "Wallet"
    assert server_of("codes and spaces") == "codes and spaces"


def test_queues_that_call_other_servers_have_long_jobs():
    calling_queues = {"webhooks", "payouts", "gateways", "lookups", "imports", "mail", "copilot"}

    assert {queue for queue in jobs.QUEUES if has_long_jobs(queue)} >= calling_queues
    assert not has_long_jobs("sales") and not has_long_jobs("refunds")
