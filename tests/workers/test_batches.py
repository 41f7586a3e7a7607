"""Jobs that a worker with a backlog batches with the dispatched one, and the effects of a failed batch."""

import dataclasses
from datetime import timedelta

import dramatiq
import pytest

from adapters import clock
from domain.jobs import Job
from models import db
from models.jobs import admin_queries, processes, rows
from models.session.database import Database
from pipelines import work
from pipelines.work import GiveUp
from tests.support.api.concurrency import start_call
from tests.support.job_queues import run_pointer
from workers import process
from workers.actor import database_job, register_calling_job
from workers.batching.batch_pauses import batch_pauses
from workers.batching.call_batches import CallBatch

_JOB = Job("test.batch", queue="upkeep", max_attempts=3, batch_size=4)
_CALL = dataclasses.replace(_JOB, lease_s=90)


@pytest.fixture(autouse=True)
def reset_jobs(app, monkeypatch):
    """Reset declarations and pauses between tests, and make pauses longer than any test."""
    monkeypatch.setattr("workers.batching.batch_pauses._PAUSE_S", 3600.0)
    batch_pauses.clear()
    yield
    dramatiq.get_broker().actors.pop(_JOB.name, None)


def _stage(brand, number: int, job=_JOB, **options):
    """Enqueue `number` jobs due one second apart, the last one now."""
    with db.unit_of_work(brand.id):
        for place in range(number):
            due = clock.now() - timedelta(seconds=number - place)
            work.enqueue(job, organization_id=brand.id, place=place, run_at=due, **options)


def _dispatch(number: int = 1) -> list[rows.Pointer]:
    """Dispatch for a process with `number` jobs per thread."""
    with db.any_org_work():
        processes.announce(process_id=process.current_id(), queues=["upkeep"], threads=1)
        return rows.any_org_dispatch(queue="upkeep", per_thread=number, share=99, lease_s=30)


def _job_states() -> list[tuple[int, int, bool, bool]]:
    """Return (place, attempts used of three, is dispatched, is dead) of every job."""
    with db.any_org_work():
        return db.db.run(
            "select (args ->> 'place')::int, attempt + 3 - max_attempts, deadline is not null, failed_at is not null"
            " from job order by 1"
        )


def _declare_database_job(*, fails_on: int | None = None) -> list[list[int]]:
    """Declare the database job; return the list to which each batch's places are appended."""
    done_batches: list[list[int]] = []

    def run_batch(jobs):
        places = [int(job.args["place"]) for job in jobs]
        if fails_on in places:
            raise LookupError("no such thing")
        db.db.run("insert into queue_pause (queue) values (%s)", (f"done {places}",))
        done_batches.append(places)

    database_job(_JOB, together=run_batch)(lambda job: run_batch([job]))
    return done_batches


def test_oldest_due_jobs_are_batched_with_the_dispatched_one(brand):
    done_batches = _declare_database_job()
    _stage(brand, 6)

    (pointer,) = _dispatch()
    run_pointer(pointer)
    run_pointer(pointer)  # the same message again

    assert done_batches == [[0, 1, 2, 3]]
    assert _job_states() == [(4, 0, False, False), (5, 0, False, False)]


def test_single_due_job_runs_alone(brand):
    done_batches = _declare_database_job()
    _stage(brand, 1)

    run_pointer(_dispatch()[0])

    assert done_batches == [[0]]
    assert _job_states() == []


def test_batch_takes_only_due_untried_undispatched_jobs_of_same_kind_tenant_and_key(brand, rival):
    done_batches = _declare_database_job()
    _stage(brand, 6)
    _stage(rival, 1)
    _stage(brand, 1, fair_key="another")
    _stage(brand, 1, dataclasses.replace(_JOB, name="test.other"))
    with db.any_org_work():
        db.db.run("update job set run_at = now() + interval '1 hour' where args ->> 'place' = '1'")
        db.db.run("update job set attempt = 1 where args ->> 'place' = '2'")
        db.db.run("update job set failed_at = now() where args ->> 'place' = '3'")
        db.db.run("update job set deadline = now() + interval '1 hour', attempt = 1 where args ->> 'place' = '4'")
        (job_id,) = db.db.row(
            "select id from job where organization_id = %s and args ->> 'place' = '0' order by id", (brand.id,)
        )
        db.db.run("update job set deadline = now() + interval '1 hour', attempt = 1 where id = %s", (job_id,))

    run_pointer(rows.Pointer(job_id, 1, "upkeep", _JOB.name))

    assert done_batches == [[0, 5]]


def test_retried_job_is_not_batched(brand):
    done_batches = _declare_database_job()
    _stage(brand, 2)
    _dispatch()
    with db.any_org_work():
        db.db.run("update job set deadline = now() where deadline is not null")

    run_pointer(_dispatch()[0])

    assert done_batches == [[0]]
    assert _job_states() == [(1, 0, False, False)]


def test_jobs_of_paused_queue_are_not_batched(brand):
    done_batches = _declare_database_job()
    _stage(brand, 2)
    pointers = _dispatch()
    with db.any_org_work():
        admin_queries.pause_queue("upkeep", why="a try")

    run_pointer(pointers[0])

    assert done_batches == [[0]]


def test_batch_skips_jobs_locked_by_another_worker(brand, app):
    batches = []

    def run_batch(jobs):
        batches.append([int(job.args["place"]) for job in jobs])

    _stage(brand, 4)
    database_job(_JOB, together=run_batch)(lambda job: run_batch([job]))
    (pointer,) = _dispatch()
    connection = Database(db.db.dsn, **db.db.connect_params)
    with connection.transaction("set local app.any_org = 'on'"):
        connection.run("select from job where args ->> 'place' = '1' for update")
        run_pointer(pointer)
    connection.drop_connection()

    assert batches == [[0, 2, 3]]


def test_dispatched_job_waits_for_lock_of_another_worker(brand):
    done_batches = _declare_database_job()
    _stage(brand, 1)
    (pointer,) = _dispatch()
    connection = Database(db.db.dsn, **db.db.connect_params)
    with connection.transaction("set local app.any_org = 'on'"):
        connection.run("select from job for update")
        worker = start_call(lambda: run_pointer(pointer))
    worker()
    connection.drop_connection()

    assert done_batches == [[0]]
    assert _job_states() == []


def test_failed_batch_is_rolled_back_and_dispatched_job_runs_alone(brand):
    done_batches = _declare_database_job(fails_on=2)
    _stage(brand, 4)

    run_pointer(_dispatch()[0])

    assert done_batches == [[0]]
    assert _job_states() == [(1, 0, False, False), (2, 0, False, False), (3, 0, False, False)]
    with db.any_org_work():
        assert sorted(admin_queries.list_paused_queues()) == ["done [0]"]


def test_only_the_faulty_job_of_a_batch_fails(brand):
    done_batches = _declare_database_job(fails_on=2)
    _stage(brand, 6)

    for _ in range(9):
        for pointer in _dispatch():
            run_pointer(pointer)
        with db.any_org_work():
            db.db.run("update job set run_at = now() where failed_at is null")

    assert sorted(done_batches) == [[0], [1], [3], [4], [5]]
    assert _job_states() == [(2, 3, False, True)]


def test_jobs_are_batched_again_after_the_pause(brand):
    done_batches = _declare_database_job(fails_on=1)
    _stage(brand, 5)
    for _ in range(2):
        run_pointer(_dispatch()[0])
    batch_pauses.clear()

    run_pointer(_dispatch()[0])

    assert done_batches == [[0], [2, 3, 4]]
    assert _job_states() == [(1, 1, False, False)]


def test_batch_size_and_batch_function_are_required_together():
    for job, together in ((_JOB, None), (dataclasses.replace(_JOB, batch_size=1), lambda jobs: None)):
        with pytest.raises(ValueError, match=r"^test\.batch: Job\.together above 1 needs"):
            database_job(job, together=together)(lambda job: None)


def _declare_calling_job(*, nothing_left=(), bad=(), raises=(), record_fails=False, look=None) -> dict[str, list]:
    """Declare the calling job; return the lists of prepared, called and recorded places."""
    calls: dict[str, list] = {"prepared": [], "called": [], "recorded": [], "given_back": []}

    def prepare(jobs):
        places = [int(job.args["place"]) for job in jobs]
        calls["prepared"].append(places)
        return [None if place in nothing_left else place for place in places]

    def call(place):
        assert not db.in_transaction()
        calls["called"].append(place)
        if look:
            look(place)
        if place in raises:
            raise GiveUp(f"{place} is gone")
        return place

    def record(pairs):
        if record_fails and len(pairs) > 1:
            raise LookupError("not together")
        calls["recorded"].append([place for place, _ in pairs])
        return [None] * len(pairs)

    register_calling_job(
        _CALL,
        prepare=lambda job: prepare([job])[0],
        call=call,
        record=lambda place, answer: record([(place, answer)])[0],
        together=CallBatch(
            prepare=prepare,
            may_continue=lambda place, answer, following: answer not in bad,
            record=record,
            give_back=lambda prepared: calls["given_back"].append(list(prepared)),
        ),
    )
    return calls


def test_calls_are_prepared_and_recorded_together_and_made_one_by_one(brand):
    calls = _declare_calling_job(nothing_left=[1])
    _stage(brand, 5, _CALL)

    run_pointer(_dispatch()[0])

    assert calls == {"prepared": [[0, 1, 2, 3]], "called": [0, 2, 3], "recorded": [[0, 2, 3]], "given_back": []}
    assert _job_states() == [(4, 0, False, False)]


def test_each_call_of_a_batch_is_leased_and_all_use_one_thread(brand):
    seen = []

    def look(place):
        with db.any_org_work():
            out = "attempt, deadline > now() + interval '80 seconds', run_at = deadline, process_id"
            seen.append(db.db.run(f"select {out} from job order by id limit 2"))
        seen.append([pointer.attempt for pointer in _dispatch(2)])

    _declare_calling_job(look=look)
    _stage(brand, 2, _CALL)
    (pointer,) = _dispatch()
    _stage(brand, 4, _CALL, fair_key="another")
    run_pointer(pointer)

    # Two threads have two slots: one is busy with both calls.
    assert seen[:2] == [[(1, True, True, process.current_id())] * 2, [1]]


def test_bad_answer_gives_the_other_calls_back_with_their_attempts(brand):
    calls = _declare_calling_job(bad=[1])
    _stage(brand, 4, _CALL)

    run_pointer(_dispatch()[0])

    assert calls["called"] == [0, 1]
    assert calls["recorded"] == [[0, 1]]
    assert calls["given_back"] == [[2, 3]]
    assert _job_states() == [(2, 0, False, False), (3, 0, False, False)]
    for pointer in _dispatch(2):
        run_pointer(pointer)
    assert sorted(calls["recorded"]) == [[0, 1], [2], [3]]


def test_slow_calls_give_the_other_calls_back(brand, monkeypatch):
    monkeypatch.setattr("workers.batching.call_batches._CALLS_S", 0)
    calls = _declare_calling_job()
    _stage(brand, 3, _CALL)

    run_pointer(_dispatch()[0])

    assert calls["called"] == [0]
    assert calls["given_back"] == [[1, 2]]
    assert _job_states() == [(1, 0, False, False), (2, 0, False, False)]


def test_call_begun_by_another_worker_is_not_given_back(brand):
    def look(place):
        with db.any_org_work():
            db.db.run("update job set attempt = attempt + 1 where args ->> 'place' = '2'")

    calls = _declare_calling_job(bad=[0], look=look)
    _stage(brand, 3, _CALL)

    run_pointer(_dispatch()[0])

    assert calls["given_back"] == [[1]]
    assert _job_states() == [(1, 0, False, False), (2, 2, True, False)]


def test_failed_call_of_a_batch_is_recorded_alone(brand):
    calls = _declare_calling_job(raises=[1])
    _stage(brand, 3, _CALL)

    run_pointer(_dispatch()[0])

    assert calls["called"] == [0, 1]
    assert calls["recorded"] == [[0]]
    assert _job_states() == [(1, 1, False, True), (2, 0, False, False)]


def test_answers_are_recorded_singly_if_recording_together_fails(brand):
    calls = _declare_calling_job(record_fails=True)
    _stage(brand, 3, _CALL)

    run_pointer(_dispatch()[0])

    assert calls["called"] == [0, 1, 2]
    assert calls["recorded"] == [[0], [1], [2]]
    assert _job_states() == []
