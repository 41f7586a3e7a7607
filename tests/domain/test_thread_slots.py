"""How many threads of a process long jobs of one queue and of one server may hold."""

from collections import Counter
from uuid import UUID

import pytest

from domain import jobs
from domain.thread_slots import ThreadSlots, Work, fair_key, has_long_jobs, server_of

_SHARED = ("webhooks", "payouts", "gateways", "lookups", "imports", "mail")


def _begin_all(slots: ThreadSlots, wanted: list[Work], queues: tuple[str, ...]) -> Counter[Work]:
    """Begin jobs, one of each kind after the other, until none has room, and return how many of each are begun."""
    begun: Counter[Work] = Counter()
    while any_begun := [work for work in wanted if slots.has_room(work, queues=queues)]:
        for work in any_begun:
            if slots.has_room(work, queues=queues):
                slots.begin(work)
                begun[work] += 1
    return begun


def _delivery(endpoint: str) -> Work:
    return Work("webhooks", jobs.WEBHOOK_DELIVER.name, endpoint)


def test_one_endpoint_in_a_shared_process_holds_half_of_its_queues_half():
    slow = _delivery("slow")

    assert _begin_all(ThreadSlots(16), [slow], _SHARED) == {slow: 4}


@pytest.mark.parametrize("endpoints", [2, 3, 5, 7])
def test_slow_endpoints_leave_a_thread_of_their_queue_to_another_endpoint(endpoints: int):
    slots = ThreadSlots(16)
    _begin_all(slots, [_delivery(f"slow {number}") for number in range(endpoints)], _SHARED)

    assert slots.has_room(_delivery("quick"), queues=_SHARED)


def test_many_endpoints_hold_half_of_a_shared_process():
    slots = ThreadSlots(16)
    begun = _begin_all(slots, [_delivery(f"slow {number}") for number in range(20)], _SHARED)

    assert begun.total() == 8


@pytest.mark.parametrize("threads", [6, 8, 12, 16])
def test_every_queue_finds_a_thread_whatever_the_others_do(threads: int):
    long = [job for job in jobs.ALL if job.queue in _SHARED and job.lease_s]
    for idle in _SHARED:
        slots = ThreadSlots(threads)
        busy = [Work(job.queue, job.name, f"{server}") for job in long if job.queue != idle for server in range(9)]
        _begin_all(slots, busy, _SHARED)
        of_idle = next(Work(job.queue, job.name, "any") for job in long if job.queue == idle)

        assert slots.has_room(of_idle, queues=_SHARED)
        slots.begin(of_idle)
        assert slots._by_queue.total() <= threads


def test_one_queue_may_use_every_thread_of_its_own_process():
    begun = _begin_all(ThreadSlots(16), [_delivery(f"{number}") for number in range(20)], ("webhooks",))

    assert begun.total() == 16


def test_short_jobs_may_use_every_thread():
    slots, sale = ThreadSlots(4), Work("sales", jobs.SALE_SETTLE.name, "one brand")
    for _ in range(4):
        assert slots.has_room(sale, queues=("sales", "refunds", "tracking", "upkeep"))
        slots.begin(sale)


def test_a_single_thread_takes_every_queue():
    slots = ThreadSlots(1)

    assert all(slots.has_room(Work(job.queue, job.name, "any"), queues=jobs.QUEUES) for job in jobs.ALL)


def test_an_ended_job_gives_its_thread_back():
    slots, slow = ThreadSlots(16), _delivery("slow")
    _begin_all(slots, [slow], _SHARED)

    slots.end(slow)

    assert _begin_all(slots, [slow], _SHARED) == {slow: 1}


def test_keys_of_two_organizations_name_the_same_server():
    first, second = (fair_key(organization_id, "Wallet") for organization_id in (UUID(int=1), UUID(int=2)))

    assert first != second
    assert server_of(first) == server_of(second) == "Wallet"
    assert server_of("codes and spaces") == "codes and spaces"


def test_queues_that_call_other_servers_have_long_jobs():
    calling = {"webhooks", "payouts", "gateways", "lookups", "imports", "mail", "copilot"}

    assert {queue for queue in jobs.QUEUES if has_long_jobs(queue)} >= calling
    assert not has_long_jobs("sales") and not has_long_jobs("refunds")
