"""Jobs that a worker that is behind batches with the dispatched one, and the effects of a failed batch."""

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
def forgets(app, monkeypatch):
    """Declarations and pauses of one test are nothing to the next; and no test is too slow for that while."""
    monkeypatch.setattr("workers.batching.batch_pauses._PAUSE_S", 3600.0)
    batch_pauses.clear()
    yield
    dramatiq.get_broker().actors.pop(_JOB.name, None)


def _stage(brand, number: int, job=_JOB, **options):
    """Ask for so many, one second after another, the last of them now."""
    with db.unit_of_work(brand.id):
        for place in range(number):
            due = clock.now() - timedelta(seconds=number - place)
            work.enqueue(job, organization_id=brand.id, place=place, run_at=due, **options)


def _hand_out(number: int = 1) -> list[rows.Pointer]:
    """Hand out for a process with so many threads, of which those may be busy that have a job already."""
    with db.any_org_work():
        processes.announce(process_id=process.current_id(), queues=["upkeep"], threads=1)
        return rows.any_org_dispatch(queue="upkeep", per_thread=number, share=99, lease_s=30)


def _job_states() -> list[tuple[int, int, bool, bool]]:
    """Return place, attempts that are used (of three), is-it-out, is-it-dead of every job."""
    with db.any_org_work():
        return db.db.run(
            "select (args ->> 'place')::int, attempt + 3 - max_attempts, deadline is not null, failed_at is not null"
            " from job order by 1"
        )


def _declare_database_job(*, fails_on: int | None = None) -> list[list[int]]:
    """Declare the database job; returns the places that were done at a time, as they are done."""
    done: list[list[int]] = []

    def together(jobs):
        places = [int(job.args["place"]) for job in jobs]
        if fails_on in places:
            raise LookupError("no such thing")
        db.db.run("insert into queue_pause (queue) values (%s)", (f"done {places}",))
        done.append(places)

    database_job(_JOB, together=together)(lambda job: together([job]))
    return done


def test_oldest_due_jobs_are_batched_with_the_dispatched_one(brand):
    done = _declare_database_job()
    _stage(brand, 6)

    (pointer,) = _hand_out()
    run_pointer(pointer)
    run_pointer(pointer)  # the same message again

    assert done == [[0, 1, 2, 3]]
    assert _job_states() == [(4, 0, False, False), (5, 0, False, False)]


def test_single_due_job_runs_alone(brand):
    done = _declare_database_job()
    _stage(brand, 1)

    run_pointer(_hand_out()[0])

    assert done == [[0]]
    assert _job_states() == []


def test_batch_takes_only_due_untried_undispatched_jobs_of_same_kind_tenant_and_key(brand, rival):
    done = _declare_database_job()
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

    assert done == [[0, 5]]


def test_retried_job_is_not_batched(brand):
    done = _declare_database_job()
    _stage(brand, 2)
    _hand_out()
    with db.any_org_work():
        db.db.run("update job set deadline = now() where deadline is not null")

    run_pointer(_hand_out()[0])

    assert done == [[0]]
    assert _job_states() == [(1, 0, False, False)]


def test_jobs_of_paused_queue_are_not_batched(brand):
    done = _declare_database_job()
    _stage(brand, 2)
    pointers = _hand_out()
    with db.any_org_work():
        admin_queries.pause_queue("upkeep", why="a try")

    run_pointer(pointers[0])

    assert done == [[0]]


def test_batch_skips_jobs_locked_by_another_worker(brand, app):
    seen = []

    def together(jobs):
        seen.append([int(job.args["place"]) for job in jobs])

    _stage(brand, 4)
    database_job(_JOB, together=together)(lambda job: together([job]))
    (pointer,) = _hand_out()
    connection = Database(db.db.dsn, **db.db.connect_params)
    with connection.transaction("set local app.any_org = 'on'"):
        connection.run("select from job where args ->> 'place' = '1' for update")
        run_pointer(pointer)
    connection.drop_connection()

    assert seen == [[0, 2, 3]]


def test_dispatched_job_waits_for_lock_of_another_worker(brand):
    done = _declare_database_job()
    _stage(brand, 1)
    (pointer,) = _hand_out()
    connection = Database(db.db.dsn, **db.db.connect_params)
    with connection.transaction("set local app.any_org = 'on'"):
        connection.run("select from job for update")
        worker = start_call(lambda: run_pointer(pointer))
    worker()
    connection.drop_connection()

    assert done == [[0]]
    assert _job_states() == []


def test_failed_batch_is_rolled_back_and_dispatched_job_runs_alone(brand):
    done = _declare_database_job(fails_on=2)
    _stage(brand, 4)

    run_pointer(_hand_out()[0])

    assert done == [[0]]
    assert _job_states() == [(1, 0, False, False), (2, 0, False, False), (3, 0, False, False)]
    with db.any_org_work():
        assert sorted(admin_queries.list_paused_queues()) == ["done [0]"]


def test_only_the_faulty_job_of_a_batch_fails(brand):
    done = _declare_database_job(fails_on=2)
    _stage(brand, 6)

    for _ in range(9):
        for pointer in _hand_out():
            run_pointer(pointer)
        with db.any_org_work():
            db.db.run("update job set run_at = now() where failed_at is null")

    assert sorted(done) == [[0], [1], [3], [4], [5]]
    assert _job_states() == [(2, 3, False, True)]


def test_jobs_are_batched_again_after_the_pause(brand):
    done = _declare_database_job(fails_on=1)
    _stage(brand, 5)
    for _ in range(2):
        run_pointer(_hand_out()[0])
    batch_pauses.clear()

    run_pointer(_hand_out()[0])

    assert done == [[0], [2, 3, 4]]
    assert _job_states() == [(1, 1, False, False)]


def test_batch_size_and_batch_function_are_required_together():
    for job, together in ((_JOB, None), (dataclasses.replace(_JOB, batch_size=1), lambda jobs: None)):
        with pytest.raises(ValueError, match=r"^test\.batch: Job\.together above 1 needs"):
            database_job(job, together=together)(lambda job: None)


def _calling(*, nothing_left=(), bad=(), raises=(), record_fails=False, look=None) -> dict[str, list]:
    """Declare the calling job; returns what was prepared, called and recorded, as it happens."""
    happened: dict[str, list] = {"prepared": [], "called": [], "recorded": [], "given_back": []}

    def prepare(jobs):
        places = [int(job.args["place"]) for job in jobs]
        happened["prepared"].append(places)
        return [None if place in nothing_left else place for place in places]

    def call(place):
        assert not db.in_transaction()
        happened["called"].append(place)
        if look:
            look(place)
        if place in raises:
            raise GiveUp(f"{place} is gone")
        return place

    def record(pairs):
        if record_fails and len(pairs) > 1:
            raise LookupError("not together")
        happened["recorded"].append([place for place, _ in pairs])
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
            give_back=lambda prepared: happened["given_back"].append(list(prepared)),
        ),
    )
    return happened


def test_calls_are_prepared_and_recorded_together_and_made_one_by_one(brand):
    happened = _calling(nothing_left=[1])
    _stage(brand, 5, _CALL)

    run_pointer(_hand_out()[0])

    assert happened == {"prepared": [[0, 1, 2, 3]], "called": [0, 2, 3], "recorded": [[0, 2, 3]], "given_back": []}
    assert _job_states() == [(4, 0, False, False)]


def test_each_call_of_a_batch_is_leased_and_all_use_one_thread(brand):
    seen = []

    def look(place):
        with db.any_org_work():
            out = "attempt, deadline > now() + interval '80 seconds', run_at = deadline, process_id"
            seen.append(db.db.run(f"select {out} from job order by id limit 2"))
        seen.append([pointer.attempt for pointer in _hand_out(2)])

    _calling(look=look)
    _stage(brand, 2, _CALL)
    (pointer,) = _hand_out()
    _stage(brand, 4, _CALL, fair_key="another")
    run_pointer(pointer)

    # Two threads have room for two: one is busy with both calls.
    assert seen[:2] == [[(1, True, True, process.current_id())] * 2, [1]]


def test_bad_answer_gives_the_other_calls_back_with_their_attempts(brand):
    happened = _calling(bad=[1])
    _stage(brand, 4, _CALL)

    run_pointer(_hand_out()[0])

    assert happened["called"] == [0, 1]
    assert happened["recorded"] == [[0, 1]]
    assert happened["given_back"] == [[2, 3]]
    assert _job_states() == [(2, 0, False, False), (3, 0, False, False)]
    for pointer in _hand_out(2):
        run_pointer(pointer)
    assert sorted(happened["recorded"]) == [[0, 1], [2], [3]]


def test_slow_calls_give_the_other_calls_back(brand, monkeypatch):
    monkeypatch.setattr("workers.batching.call_batches._CALLS_S", 0)
    happened = _calling()
    _stage(brand, 3, _CALL)

    run_pointer(_hand_out()[0])

    assert happened["called"] == [0]
    assert happened["given_back"] == [[1, 2]]
    assert _job_states() == [(1, 0, False, False), (2, 0, False, False)]


def test_call_begun_by_another_worker_is_not_given_back(brand):
    def look(place):
        with db.any_org_work():
            db.db.run("update job set attempt = attempt + 1 where args ->> 'place' = '2'")

    happened = _calling(bad=[0], look=look)
    _stage(brand, 3, _CALL)

    run_pointer(_hand_out()[0])

    assert happened["given_back"] == [[1]]
    assert _job_states() == [(1, 0, False, False), (2, 2, True, False)]


def test_failed_call_of_a_batch_is_recorded_alone(brand):
    happened = _calling(raises=[1])
    _stage(brand, 3, _CALL)

    run_pointer(_hand_out()[0])

    assert happened["called"] == [0, 1]
    assert happened["recorded"] == [[0]]
    assert _job_states() == [(1, 1, False, True), (2, 0, False, False)]


def test_answers_are_recorded_singly_if_recording_together_fails(brand):
    happened = _calling(record_fails=True)
    _stage(brand, 3, _CALL)

    run_pointer(_hand_out()[0])

    assert happened["called"] == [0, 1, 2]
    assert happened["recorded"] == [[0], [1], [2]]
    assert _job_states() == []
