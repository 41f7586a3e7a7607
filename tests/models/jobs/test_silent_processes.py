"""Silent processes: their jobs are released and their threads do not count."""

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
    """Return a function that stages jobs, announces a process with a thread for each, and dispatches them."""

    def stage_jobs(job: jobs.Job, number: int = 1) -> list[rows.Pointer]:
        with db.unit_of_work(brand.id):
            for _ in range(number):
                work.enqueue(job, organization_id=brand.id, fair_key="one")
        _announce(threads=number, queue=job.queue)
        return _dispatch(job.queue)

    return stage_jobs


def _announce(*, threads: int, queue: str = "webhooks", silent_s: int = 0) -> UUID:
    with db.any_org_work():
        return _announce_in_work(threads=threads, queue=queue, silent_s=silent_s)


def _announce_in_work(*, threads: int, queue: str = "webhooks", silent_s: int = 0) -> UUID:
    process_id = ids.new_id()
    processes.announce(process_id=process_id, queues=[queue], threads=threads)
    db.db.stage(
        "update worker_process set seen_at = now() - make_interval(secs => %s) where id = %s", (silent_s, process_id)
    )
    return process_id


def _dispatch(queue: str, share: int = 100) -> list[rows.Pointer]:
    with db.any_org_work():
        return rows.any_org_dispatch(queue=queue, per_thread=1, share=share, lease_s=_LEASE_S)


def _start(pointer: rows.Pointer, process_id: UUID) -> None:
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


@pytest.mark.parametrize("is_started", [False, True], ids=["fetched", "started"])
@pytest.mark.parametrize("job", [jobs.WEBHOOK_DELIVER, jobs.PAYOUT_TRANSFER], ids=lambda job: job.name)
def test_jobs_of_a_silent_process_are_due_again_except_started_transfers(stage, job, is_started):
    silent_id = ids.new_id()
    (pointer,) = stage(job)
    if is_started:
        _start(pointer, silent_id)

    locked_jobs = _release(silent_id, pointer)

    assert locked_jobs == set()
    keeps_lease = is_started and job is jobs.PAYOUT_TRANSFER
    assert [pointer.attempt for pointer in _dispatch(job.queue)] == ([] if keeps_lease else [2])


def test_transfer_started_after_the_release_keeps_its_full_lease(stage):
    silent_id = ids.new_id()
    (pointer,) = stage(jobs.PAYOUT_TRANSFER)
    _release(silent_id, pointer)

    _start(pointer, silent_id)

    assert _dispatch(jobs.PAYOUT_TRANSFER.queue) == []


def test_call_started_just_before_its_deadline_gets_a_new_lease(stage, brand):
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    brand.rows("update job set deadline = now() + interval '1 second' returning id")

    _start(pointer, ids.new_id())

    ((has_new_lease,),) = brand.rows("select deadline - now() > interval '80 seconds' and run_at = deadline from job")
    assert has_new_lease


def test_started_call_is_released_by_its_row(stage):
    silent_id = ids.new_id()
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    _start(pointer, silent_id)

    _release(silent_id)

    assert [pointer.attempt for pointer in _dispatch("webhooks")] == [2]


def test_jobs_of_another_process_are_not_released(stage):
    first, second = stage(jobs.WEBHOOK_DELIVER, 2)
    _start(first, ids.new_id())
    with db.any_org_work():
        db.db.stage("update job set attempt = 2 where id = %s", (second.job_id,))

    assert _release(ids.new_id(), second) == set()

    assert _dispatch("webhooks") == []


def test_locked_job_is_still_held_and_released_once_unlocked(stage):
    (pointer,) = stage(jobs.SALE_SETTLE)
    silent_id = ids.new_id()

    with closing(psycopg2.connect(os.environ["DATABASE_URL"])) as other, other.cursor() as cursor:
        cursor.execute("set app.any_org = 'on'; select from job where id = %s for update", (pointer.job_id,))
        assert cursor.rowcount == 1
        locked_jobs = _release(silent_id, pointer)
        other.rollback()  # the server notices a closed connection only later

    assert locked_jobs == {(pointer.job_id, 1)}
    assert _dispatch("sales") == []
    assert _release(silent_id, pointer) == set()
    assert [pointer.attempt for pointer in _dispatch("sales")] == [2]


def test_old_pointer_of_a_released_process_changes_nothing(stage):
    (pointer,) = stage(jobs.SALE_SETTLE)
    _release(ids.new_id(), pointer)
    _dispatch("sales")

    with db.any_org_work():
        assert rows.lock(job_id=pointer.job_id, attempt=1) is None


def test_endpoint_slots_are_free_after_the_release(stage):
    silent_id = ids.new_id()
    pointers = stage(jobs.WEBHOOK_DELIVER, 4)
    for pointer in pointers:
        _start(pointer, silent_id)
    assert _dispatch("webhooks", share=4) == []

    _release(silent_id)

    assert len(_dispatch("webhooks", share=4)) == 4


def test_calls_of_silent_processes_do_not_count(stage, brand):
    # given: two transfers started by a dead process; it holds them until their leases end
    for pointer in stage(jobs.PAYOUT_TRANSFER, 2):
        _start(pointer, ids.new_id())
    with db.unit_of_work(brand.id):
        for _ in range(3):
            work.enqueue(jobs.PAYOUT_TRANSFER, organization_id=brand.id)

    # then: both live threads get a job
    assert len(_dispatch("payouts")) == 2


def test_calls_of_live_processes_count(stage, brand):
    process_id = _announce(threads=1)
    (pointer,) = stage(jobs.WEBHOOK_DELIVER)
    _start(pointer, process_id)
    with db.unit_of_work(brand.id):
        for _ in range(3):
            work.enqueue(jobs.WEBHOOK_DELIVER, organization_id=brand.id)

    assert len(_dispatch("webhooks")) == 1


@pytest.mark.parametrize(("silent_s", "is_live"), [(11, True), (13, False)])
def test_process_is_live_for_twelve_seconds_after_announcing(app, silent_s, is_live):
    with db.any_org_work():  # the time is constant within a transaction
        process_id = _announce_in_work(threads=3, silent_s=silent_s)

        assert processes.count_live_threads() == ({"webhooks": 3} if is_live else {})
        assert processes.list_silent() == ([] if is_live else [process_id])
        assert processes.lock_silent(process_id) is not is_live


def test_no_job_is_dispatched_to_silent_processes(brand):
    with db.unit_of_work(brand.id):
        work.enqueue(jobs.WEBHOOK_DELIVER, organization_id=brand.id)
    _announce(threads=3, silent_s=13)

    assert _dispatch("webhooks") == []
