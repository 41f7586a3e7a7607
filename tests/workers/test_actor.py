"""One job row and one actor: the effects of failures, and the limits of a call to another server."""

import dataclasses
import os
from datetime import UTC, datetime, timedelta

import dramatiq
import pytest

from domain.jobs import Job
from models import db, ids
from models.jobs import admin_queries, processes, rows
from pipelines import work
from pipelines.work import GiveUp, TryAgain
from tests.support.job_queues import measure_wait_s, run_pointer
from tests.support.settings_overrides import override_settings
from workers.actor import database_job, register_calling_job

_JOB = Job("test.job", queue="upkeep", max_attempts=2)
_PROCESS = ids.new_id()
_AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def declare(app):
    """Return a function that declares `test.job` as a database or calling job; removed after the test."""

    def declare_job(work=None, **calling):
        database_job(_JOB)(work) if work else register_calling_job(_JOB, **calling)

    yield declare_job
    dramatiq.get_broker().actors.pop(_JOB.name, None)


def _enqueue_and_dispatch(brand, *, attempt: int = 1, max_attempts: int = 2) -> rows.Pointer:
    """Enqueue `test.job` and dispatch it until it is at `attempt`."""
    with db.any_org_work():
        work.enqueue(dataclasses.replace(_JOB, max_attempts=max_attempts), organization_id=brand.id)
    for _ in range(attempt):
        pointer = _dispatch()
    return pointer


def _dispatch() -> rows.Pointer:
    """Dispatch to a process that announces itself each time, because many dispatches outlast the silence limit."""
    with db.any_org_work():
        processes.announce(process_id=_PROCESS, queues=["upkeep"], threads=1)
        db.db.stage("update job set deadline = null, run_at = now()")
        return rows.any_org_dispatch(queue="upkeep", per_thread=1, share=9, lease_s=30)[0]


def _row():
    """Return the job's (attempt, is dispatched, is dead, error), or None when it is done."""
    with db.any_org_work():
        return db.db.row("select attempt, deadline is not null, failed_at is not null, last_error from job")


def _pause(queue: str):
    db.db.run("insert into queue_pause (queue) values (%s)", (queue,))


def _list_paused_queues() -> list[str]:
    with db.any_org_work():
        return sorted(admin_queries.list_paused_queues())


def _raising(error: BaseException):
    def work(job):
        _pause("written before it failed")
        raise error

    return work


def test_work_and_completion_commit_in_one_transaction(declare, brand):
    declare(lambda job: _pause("done"))
    pointer = _enqueue_and_dispatch(brand)

    run_pointer(pointer)
    run_pointer(pointer)  # the same message again

    assert _row() is None
    assert _list_paused_queues() == ["done"]


def test_work_sees_only_rows_of_its_organization(declare, brand, rival):
    brand.program()
    rival.program()
    results = []
    declare(lambda job: results.append((job.tenant, db.db.run("select distinct organization_id from program"))))

    run_pointer(_enqueue_and_dispatch(brand))

    assert results == [(brand.id, [(brand.id,)])]


def test_try_again_returns_attempt_and_rolls_work_back(declare, brand):
    declare(_raising(TryAgain(at=_AT)))

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row() == (1, False, False, None)
    assert brand.rows("select max_attempts from job") == [(3,)]
    assert brand.rows("select run_at from job") == [(_AT,)]
    assert _list_paused_queues() == []


def test_give_up_makes_dead_letter_with_reason(declare, brand):
    declare(_raising(GiveUp("the campaign is gone")))

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row() == (1, False, True, "the campaign is gone")
    assert _list_paused_queues() == []


def test_exception_rolls_work_back_and_stores_traceback(declare, brand):
    declare(_raising(LookupError("no such thing")))

    least_s, most_s = measure_wait_s(lambda: run_pointer(_enqueue_and_dispatch(brand)))
    attempt, is_out, is_dead, error = _row()

    assert (attempt, is_out, is_dead) == (1, False, False)
    assert error.startswith("Traceback (most recent call last):")
    assert error.endswith("LookupError: no such thing\n")
    assert least_s <= 1 < most_s + 1
    assert _list_paused_queues() == []


def test_exception_in_last_attempt_makes_dead_letter(declare, brand):
    declare(_raising(LookupError("no such thing")))

    run_pointer(_enqueue_and_dispatch(brand, attempt=2))

    assert _row()[:3] == (2, False, True)


@pytest.mark.parametrize("error", [LookupError("a\x00b \ud800 c"), GiveUp("a\x00b \ud800 c")])
def test_error_with_invalid_characters_is_stored(declare, brand, error):
    declare(_raising(error))

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row()[3].strip().endswith("ab ? c")


def test_long_error_is_stored_with_its_end(declare, brand):
    declare(_raising(LookupError("x" * 20_000 + " the end")))

    run_pointer(_enqueue_and_dispatch(brand))

    assert len(_row()[3]) == 8_000
    assert _row()[3].endswith(" the end\n")


def test_statement_timeout_counts_as_failure(declare, brand):
    declare(lambda job: db.db.run("set local statement_timeout = 10; select pg_sleep(5)"))

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row()[:3] == (1, False, False)
    assert "canceling statement due to statement timeout" in _row()[3]


def _raise_lock_timeout(job):
    db.db.run("do $$ begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$")


@pytest.mark.parametrize(("lease_s", "attempt", "delay_s"), [(30, 4, 2), (30, 5, 30), (90, 9, 2), (90, 11, 300)])
def test_lock_timeout_is_retried_soon_while_a_frozen_transaction_may_hold_the_lock(
    declare, brand, monkeypatch, *, lease_s, attempt, delay_s
):
    override_settings(monkeypatch, jobs={"lease_s": lease_s})
    declare(_raise_lock_timeout)

    pointer = _enqueue_and_dispatch(brand, attempt=attempt, max_attempts=20)
    least_s, most_s = measure_wait_s(lambda: run_pointer(pointer))

    assert least_s <= delay_s <= most_s + 1


@pytest.mark.parametrize(("lease_s", "silence"), [(None, "1min"), (900, "901s")])
def test_transaction_may_be_idle_for_as_long_as_the_lease(brand, app, lease_s, silence):
    results = []
    try:
        database_job(dataclasses.replace(_JOB, lease_s=lease_s))(
            lambda job: results.append(db.db.row("show idle_in_transaction_session_timeout"))
        )
        run_pointer(_enqueue_and_dispatch(brand))
    finally:
        dramatiq.get_broker().actors.pop(_JOB.name, None)

    assert results == [(silence,)]


def test_lost_connection_counts_as_failure_and_rolls_work_back(declare, brand):
    def work(job):
        _pause("written before it failed")
        db.db.run("select pg_terminate_backend(pg_backend_pid())")

    declare(work)
    run_pointer(_enqueue_and_dispatch(brand))

    assert _row()[:3] == (1, False, False)
    assert _list_paused_queues() == []


def test_unavailable_database_leaves_job_leased_until_its_lease_ends(declare, brand, tmp_path):
    declare(lambda job: _pause("done"))
    pointer = _enqueue_and_dispatch(brand)
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        run_pointer(pointer)
    finally:
        db.connect_to(os.environ["DATABASE_URL"])

    assert _row() == (1, True, False, None)


def _run_unknown_job(times: int = 1) -> list[tuple[int, bool, str, float, float]]:
    """Run an unknown job `times` times; return (attempts left, is dead, error, min and max wait) of each."""
    results = []
    for _ in range(times):
        pointer = _dispatch()
        waits = measure_wait_s(lambda pointer=pointer: run_pointer(pointer))
        with db.any_org_work():
            (row,) = db.db.run("select max_attempts - attempt, failed_at is not null, last_error from job")
        results.append((*row, *waits))
    return results


@pytest.fixture
def newer_job(brand):
    """Enqueue a job of a kind that only a newer release knows."""
    with db.any_org_work():
        work.enqueue(dataclasses.replace(_JOB, name="test.newer"), organization_id=brand.id)


def test_unknown_job_is_postponed_with_growing_pauses_and_keeps_its_attempts(newer_job):
    results = _run_unknown_job(9)

    ladder = [3, 3, 6, 12, 24, 48, 60, 60, 60]
    assert all(least_s <= wait_s <= most_s for (*_, least_s, most_s), wait_s in zip(results, ladder, strict=True)), (
        results
    )
    assert [(left, is_dead) for left, is_dead, *_ in results] == [(2, False)] * 9
    assert "this kind of work, test.newer;" in results[-1][2]


def test_job_unknown_for_an_hour_is_dead_letter_with_next_step(newer_job, brand):
    results = _run_unknown_job(66)

    assert [is_dead for _, is_dead, *_ in results] == [False] * 65 + [True]
    assert sum(least_s for *_, least_s, _ in results[:-1]) < 3660
    assert sum(most_s for *_, most_s in results[:-1]) >= 3600
    ((job_id, error),) = brand.rows("select id, last_error from job")
    assert error == (
        "No worker knew this kind of work, test.newer, for an hour. Start workers of a release that does, then:"
        f" flask jobs replay {job_id}"
    )


def test_replayed_unknown_job_has_another_hour(newer_job, brand):
    _run_unknown_job(66)
    ((job_id,),) = brand.rows("select id from job")
    with db.any_org_work():
        admin_queries.any_org_replay([job_id])

    ((_, is_dead, _, least_s, most_s),) = _run_unknown_job()

    assert not is_dead
    assert least_s <= 3 <= most_s


def test_stale_pointer_of_unknown_job_does_nothing(newer_job, brand):
    stale = _dispatch()
    _dispatch()

    run_pointer(stale)

    assert brand.rows("select attempt, deadline is not null, unknown_s from job") == [(2, True, 0)]


def test_call_runs_between_two_transactions(declare, brand):
    steps = []

    def step(name, answer):
        steps.append((name, db.in_transaction()))
        return answer

    declare(
        prepare=lambda job: step("prepare", "letter"),
        call=lambda prepared: step(f"send {prepared}", 200),
        record=lambda prepared, answer: step(f"record {answer}", None),
    )
    run_pointer(_enqueue_and_dispatch(brand))

    assert steps == [("prepare", True), ("send letter", False), ("record 200", True)]
    assert _row() is None


def test_call_without_a_prepared_request_is_skipped(declare, brand):
    declare(prepare=lambda job: None, call=pytest.fail, record=pytest.fail)

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row() is None


def test_repeated_call_waits_and_gets_its_attempt_back(declare, brand):
    declare(prepare=lambda job: "letter", call=lambda letter: 503, record=lambda letter, answer: _AT)

    run_pointer(_enqueue_and_dispatch(brand))

    assert _row() == (1, False, False, None)
    assert brand.rows("select max_attempts from job") == [(3,)]
    assert brand.rows("select run_at from job") == [(_AT,)]


@pytest.mark.parametrize("fails_in", ["call", "record"])
def test_failed_call_keeps_prepared_rows(declare, brand, fails_in):
    def fail(*_):
        if db.in_transaction():
            _pause("recorded")
        raise LookupError(fails_in)

    steps = {"prepare": lambda job: _pause("prepared") or "letter", "call": lambda letter: 200}
    declare(**(steps | {"record": fail, fails_in: fail}))
    run_pointer(_enqueue_and_dispatch(brand))

    assert _row()[:3] == (1, False, False)
    assert _row()[3].endswith(f"LookupError: {fails_in}\n")
    assert _list_paused_queues() == ["prepared"]


@pytest.mark.parametrize("again_at", [None, _AT])
def test_call_of_stale_attempt_leaves_its_row_unchanged(declare, brand, again_at):
    def call(_):
        with db.any_org_work():
            db.db.stage("update job set attempt = 2, deadline = now() + %s", (timedelta(seconds=30),))

    declare(prepare=lambda job: "letter", call=call, record=lambda letter, answer: again_at)
    run_pointer(_enqueue_and_dispatch(brand))

    assert _row() == (2, True, False, None)
