"""The release of a silent process's jobs, and the room that silent processes take."""

import os
from contextlib import closing
from uuid import UUID

import psycopg2
import pytest

from domain import jobs
from models import db, ids
from models.jobs import processes, rows, silent_processes
from pipelines import work

_LEASE_S = 90


@pytest.fixture
def stage(brand):
    """Stage jobs of a kind, announce a process with a thread for each, and hand them out."""

    def staged(job: jobs.Job, number: int = 1) -> list[rows.Pointer]:
        with db.unit_of_work(brand.id):
            for _ in range(number):
                work.enqueue(job, organization_id=brand.id, fair_key="one")
        _announce(threads=number, queue=job.queue)
        return _hand_out(job.queue)

    return staged


def _announce(*, threads: int, queue: str = "webhooks", silent_s: int = 0) -> UUID:
    with db.any_org_work():
        return _announced(threads=threads, queue=queue, silent_s=silent_s)


def _announced(*, threads: int, queue: str = "webhooks", silent_s: int = 0) -> UUID:
    process_id = ids.new_id()
    processes.announce(process_id=process_id, queues=[queue], threads=threads)
    db.db.stage(
        "update worker_process set seen_at = now() - make_interval(secs => %s) where id = %s", (silent_s, process_id)
    )
    return process_id


def _hand_out(queue: str, share: int = 100) -> list[rows.Pointer]:
    with db.any_org_work():
        return rows.any_org_dispatch(queue=queue, per_thread=1, share=share, lease_s=_LEASE_S)


def _begin(pointer: rows.Pointer, process_id: UUID) -> None:
    with db.any_org_work():
        assert rows.lock(job_id=pointer.job_id, attempt=pointer.attempt)
        rows.stage_start(job_id=pointer.job_id, attempt=pointer.attempt, process_id=process_id)


def _release(process_id: UUID, *fetched: rows.Pointer) -> set[silent_processes.HeldJob]:
    with db.any_org_work():
        return silent_processes.any_org_release(
            process_id=process_id,
            fetched=[(pointer.job_id, pointer.attempt) for pointer in fetched],
            full_lease=[jobs.PAYOUT_TRANSFER.name],
        )


@pytest.mark.parametrize("is_begun", [False, True], ids=["fetched", "begun"])
@pytest.mark.parametrize("job", [jobs.WEBHOOK_DELIVER, jobs.PAYOUT_TRANSFER], ids=lambda job: job.name)
def test_jobs_of_a_silent_process_are_due_again_except_started_transfers(stage, job, is_begun):
    silent = ids.new_id()
    (pointer,) = stage(job)
    if is_begun:
        _begin(pointer, silent)

    held = _release(silent, pointer)

    assert held == set()
    is_kept = is_begun and job is jobs.PAYOUT_TRANSFER
    assert [again.attempt for again in _hand_out(job.queue)] == ([] if is_kept else [2])


def test_transfer_started_after_its_process_was_released_has_its_whole_lease(stage):
    silent = ids.new_id()
    (pointer,) = stage(jobs.PAYOUT_TRANSFER)
    _release(silent, pointer)

    _begin(pointer, silent)

    assert _hand_out(jobs.PAYOUT_TRANSFER.queue) == []


def test_call_that_starts_late_is_not_dispatched_again_in_mid_call(stage, brand):
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    brand.rows("update job set deadline = now() + interval '1 second' returning id")

    _begin(pointer, ids.new_id())

    ((lease,),) = brand.rows("select deadline - now() > interval '80 seconds' and run_at = deadline from job")
    assert lease


def test_started_call_is_released_by_its_row_without_the_broker(stage):
    silent = ids.new_id()
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    _begin(pointer, silent)

    _release(silent)

    assert [again.attempt for again in _hand_out("webhooks")] == [2]


def test_jobs_of_another_process_are_not_released(stage):
    first, second = stage(jobs.WEBHOOK_DELIVER, 2)
    _begin(first, ids.new_id())
    with db.any_org_work():
        db.db.stage("update job set attempt = 2 where id = %s", (second.job_id,))

    assert _release(ids.new_id(), second) == set()

    assert _hand_out("webhooks") == []


def test_locked_job_is_still_held_and_released_once_unlocked(stage):
    (pointer,) = stage(jobs.SALE_SETTLE)
    silent = ids.new_id()

    with closing(psycopg2.connect(os.environ["DATABASE_URL"])) as other, other.cursor() as cursor:
        cursor.execute("set app.any_org = 'on'; select from job where id = %s for update", (pointer.job_id,))
        assert cursor.rowcount == 1
        held = _release(silent, pointer)
        other.rollback()  # the server sees a connection that was closed some time later

    assert held == {(pointer.job_id, 1)}
    assert _hand_out("sales") == []
    assert _release(silent, pointer) == set()
    assert [again.attempt for again in _hand_out("sales")] == [2]


def test_old_pointer_of_a_released_process_changes_nothing(stage):
    (pointer,) = stage(jobs.SALE_SETTLE)
    _release(ids.new_id(), pointer)
    _hand_out("sales")

    with db.any_org_work():
        assert rows.lock(job_id=pointer.job_id, attempt=1) is None


def test_share_of_an_endpoint_is_freed_when_its_caller_is_silent(stage):
    silent = ids.new_id()
    with_it = stage(jobs.WEBHOOK_DELIVER, 4)
    for pointer in with_it:
        _begin(pointer, silent)
    assert _hand_out("webhooks", share=4) == []

    _release(silent)

    assert len(_hand_out("webhooks", share=4)) == 4


def test_calls_of_silent_processes_take_no_room(stage, brand):
    # given: two transfers that a process began which is dead; they are its own until their leases end
    for pointer in stage(jobs.PAYOUT_TRANSFER, 2):
        _begin(pointer, ids.new_id())
    with db.unit_of_work(brand.id):
        for _ in range(3):
            work.enqueue(jobs.PAYOUT_TRANSFER, organization_id=brand.id)

    # then: both threads that live are given something
    assert len(_hand_out("payouts")) == 2


def test_calls_of_live_processes_take_room(stage, brand):
    process_id = _announce(threads=1)
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    _begin(pointer, process_id)
    with db.unit_of_work(brand.id):
        for _ in range(3):
            work.enqueue(jobs.WEBHOOK_DELIVER, organization_id=brand.id)

    assert len(_hand_out("webhooks")) == 1


@pytest.mark.parametrize(("silent_s", "is_live"), [(11, True), (13, False)])
def test_process_is_live_for_twelve_seconds_after_announcing(app, silent_s, is_live):
    with db.any_org_work():  # in which it stays the same moment
        process_id = _announced(threads=3, silent_s=silent_s)

        assert processes.count_live_threads() == ({"webhooks": 3} if is_live else {})
        assert processes.list_silent() == ([] if is_live else [process_id])
        assert processes.lock_silent(process_id) is not is_live


def test_no_job_is_dispatched_to_silent_processes(brand):
    with db.unit_of_work(brand.id):
        work.enqueue(jobs.WEBHOOK_DELIVER, organization_id=brand.id)
    _announce(threads=3, silent_s=13)

    assert _hand_out("webhooks") == []
