"""The message that a free thread takes next, and the thread that is woken for it."""

import contextlib
import queue
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from domain import jobs
from domain.jobs import Job
from workers.carriers.fair_queue import FairQueue

_QUEUES = ("webhooks", "payouts", "mail")
_PATIENCE_S = 60


def _item(job: Job, key: str = "one") -> Any:
    message = SimpleNamespace(queue_name=job.queue, actor_name=job.name, kwargs={"key": key, "job_id": 1})
    return SimpleNamespace(message=message)


def _take_all(fair: FairQueue) -> list[str]:
    """Take messages in threads that never finish, until none may start; return the queues of the taken messages."""
    names: list[str] = []

    def take() -> None:
        with contextlib.suppress(queue.Empty):
            names.append(fair.get(block=False).message.queue_name)

    while True:
        before = len(names)
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        if len(names) == before:
            return names


@pytest.fixture
def fair() -> FairQueue:
    return FairQueue(threads=8, queues=_QUEUES)


def test_slow_endpoint_holds_a_quarter_of_threads_and_later_jobs_of_others_begin(fair: FairQueue):
    for _ in range(20):
        fair.put(_item(jobs.WEBHOOK_DELIVER, "slow"))
    started_queues = _take_all(fair)

    fair.put(_item(jobs.MAIL_SEND))
    fair.put(_item(jobs.PAYOUT_TRANSFER))
    fair.put(_item(jobs.WEBHOOK_DELIVER, "quick"))

    assert started_queues == ["webhooks"] * 2
    assert sorted(_take_all(fair)) == ["mail", "payouts", "webhooks"]


def test_payouts_of_two_organizations_by_one_rail_hold_a_quarter_of_threads(fair: FairQueue):
    for key in ("one@Wallet", "other@Wallet") * 5:
        fair.put(_item(jobs.PAYOUT_TRANSFER, key))
    started_queues = _take_all(fair)

    fair.put(_item(jobs.PAYOUT_TRANSFER, "third@GlobalPayouts"))

    assert started_queues == ["payouts"] * 2
    assert _take_all(fair) == ["payouts"]


def test_messages_of_one_queue_and_key_keep_their_order(fair: FairQueue):
    items = [_item(jobs.SIGN_IN_LETTER) for _ in range(5)]
    for item in items:
        fair.put(item)

    assert [fair.get(block=False) for _ in items] == items


def test_free_slot_wakes_a_waiting_thread():
    fair = FairQueue(threads=4, queues=_QUEUES)  # one thread for a server
    for _ in range(2):
        fair.put(_item(jobs.WEBHOOK_DELIVER, "slow"))
    fair.get(block=False)
    taken: list[Any] = []
    waits = threading.Thread(target=lambda: taken.append(fair.get(timeout=_PATIENCE_S)))
    waits.start()
    while not fair._idle:
        time.sleep(0.01)

    fair.task_done()
    waits.join(_PATIENCE_S)

    assert [item.message.queue_name for item in taken] == ["webhooks"]


def test_ending_process_requeues_messages_without_slot(fair: FairQueue):
    for _ in range(5):
        fair.put(_item(jobs.WEBHOOK_DELIVER, "slow"))
    _take_all(fair)

    returned = [fair.get_nowait() for _ in range(fair.qsize())]

    assert len(returned) == 3
    with pytest.raises(queue.Empty):
        fair.get_nowait()


def test_wait_without_message_raises_empty(fair: FairQueue):
    with pytest.raises(queue.Empty):
        fair.get(timeout=0.01)

    assert fair._idle == []


def test_many_threads_take_each_message_once(fair: FairQueue):
    taken: list[Any] = []
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            try:
                item = fair.get(timeout=0.05)
            except queue.Empty:
                continue
            taken.append(item)
            fair.task_done()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    items = [_item(job, f"{number % 7}") for number in range(200) for job in (jobs.WEBHOOK_DELIVER, jobs.MAIL_SEND)]
    for item in items:
        fair.put(item)
    fair.join()
    is_over.set()
    for thread in threads:
        thread.join()

    assert sorted(map(id, taken)) == sorted(map(id, items))
    assert fair._held == {} and fair.qsize() == 0
