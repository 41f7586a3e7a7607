"""Middleware of a worker process, with real Dramatiq workers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dramatiq
import peewee
import pytest

from models import db
from models.jobs import processes, rows
from workers import process
from workers.carriers import fetched_messages

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 60

# A worker process; each line on standard input names a thread to end.
_WORKER = """
import sys, threading
import dramatiq
from workers import fleet

fleet.load()
worker = dramatiq.Worker(fleet.connected, queues={"upkeep"}, worker_threads=2, worker_timeout=50)
worker.start()
print("ready", flush=True)
for line in sys.stdin:
    thread = worker.consumers["upkeep"] if line.strip() == "consumer" else worker.workers[0]
    thread.running = False  # its loop ends, as after an error that Dramatiq does not handle
    thread.join()
    print("died", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def worker(app):
    """A worker on the queue `upkeep`, started by the test and stopped after it."""
    new_worker = dramatiq.Worker(dramatiq.get_broker(), queues={"upkeep"}, worker_threads=3, worker_timeout=50)
    yield new_worker
    new_worker.stop(timeout=60_000)
    broker = dramatiq.get_broker()
    broker.middleware[:] = [m for m in broker.middleware if type(m).__name__ != "_WorkerMiddleware"]


def _becomes_true(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def _count_live_threads() -> dict[str, int]:
    with db.any_org_work():
        return processes.count_live_threads()


def test_worker_announces_its_queues_and_threads(worker):
    worker.start()

    assert _becomes_true(lambda: _count_live_threads() == {"upkeep": 3})


def test_clean_stop_withdraws_the_announcement(worker, monkeypatch):
    monkeypatch.setattr(process, "_STOP_WAIT_S", _PATIENCE_S)
    worker.start()
    assert _becomes_true(lambda: _count_live_threads() == {"upkeep": 3})

    worker.stop(timeout=60_000)

    assert _count_live_threads() == {}


def _list_announced_queues() -> list[tuple[list[str]]]:
    with db.any_org_work():
        return db.db.run("select queues from worker_process")


def test_stopping_process_announces_no_queue(worker, monkeypatch):
    monkeypatch.setattr(process, "_STOP_WAIT_S", _PATIENCE_S)
    monkeypatch.setattr(process, "_ANNOUNCE_EVERY_S", 0)  # an announcement is always due
    for _ in range(5):
        announcement = process.Announcement()
        announcement.after_worker_boot(None, worker)
        time.sleep(0.02)
        announcement.before_worker_shutdown(None, worker)

        assert _count_live_threads() == {}
        assert _list_announced_queues() == [([],)]
        announcement.after_worker_shutdown(None, worker)
        assert _list_announced_queues() == []


def test_process_ending_with_unfinished_jobs_keeps_its_announcement(worker, monkeypatch):
    monkeypatch.setattr(process, "_STOP_WAIT_S", _PATIENCE_S)
    announcement = process.Announcement()
    announcement.after_worker_boot(None, worker)
    assert _becomes_true(lambda: len(_list_announced_queues()) == 1)
    worker.broker.unacknowledged["upkeep"].add("a message")
    try:
        announcement.before_worker_shutdown(None, worker)
        announcement.after_worker_shutdown(None, worker)
    finally:
        worker.broker.unacknowledged.clear()

    assert _list_announced_queues() == [([],)]


def test_consumer_requeues_messages_of_a_lost_fetch(app):
    broker = dramatiq.get_broker()
    for number in range(3):
        broker.enqueue(dramatiq.Message("lost", "nobody", (), {"job_id": number, "attempt": 1}, {}))
    consumer = broker.consume("lost")
    fetched_key = fetched_messages.set_key(broker.client, broker.broker_id, "lost")

    def count_messages() -> tuple[int, int]:
        return broker.client.scard(fetched_key), broker.client.llen("finderfee:lost")

    try:
        assert next(consumer) is not None
        assert count_messages() == (3, 0)
        consumer.close()  # two of three were in its cache
        assert count_messages() == (1, 2)
        broker.unacknowledged["lost"].clear()  # as if the response had been lost
        broker.consume("lost").close()
        assert count_messages() == (0, 3)
    finally:
        broker.flush("lost")


@pytest.mark.parametrize("error", [db.UNAVAILABLE[0]("away"), peewee.InternalError("read-only"), ZeroDivisionError()])
def test_failed_announcement_is_repeated(worker, monkeypatch, error):
    monkeypatch.setattr(process, "_ANNOUNCE_EVERY_S", 0.01)
    failures = []

    def fail(statements: bytes):
        if b"insert into worker_process" in statements and len(failures) < 3:
            failures.append(statements)
            raise error

    db.db.trip_hooks.append(fail)
    worker.start()
    is_announced = _becomes_true(lambda: _count_live_threads() == {"upkeep": 3})
    db.db.trip_hooks.remove(fail)

    assert is_announced
    assert len(failures) == 3


def test_worker_runs_dispatched_jobs(worker, brand):
    from domain import jobs
    from models import ids
    from pipelines import work

    with db.any_org_work():
        work.enqueue(jobs.FORGET, organization_id=None)
        processes.announce(process_id=ids.new_id(), queues=["upkeep"], threads=1)
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue="upkeep", per_thread=1, share=1, lease_s=30)
    arguments = {"job_id": pointer.job_id, "attempt": pointer.attempt}
    dramatiq.get_broker().enqueue(dramatiq.Message(pointer.queue, pointer.name, (), arguments, {}))

    worker.start()

    assert _becomes_true(lambda: brand.rows("select 1 from job") == [])
    assert _becomes_true(lambda: _count_jobs() == 0)


def _count_jobs() -> int:
    with db.any_org_work():
        return db.db.row("select count(*) from job")[0]


@pytest.mark.parametrize("thread", ["consumer", "worker"])
def test_process_with_dead_thread_ends(app, thread):
    db.db.drop_connection()
    child = subprocess.Popen(
        [sys.executable, "-c", _WORKER],
        cwd=_ROOT,
        env=dict(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n"
        child.stdin.write(f"{thread}\n")
        child.stdin.flush()
        assert child.stdout.readline() == "died\n"
        ended_with = child.wait(timeout=_PATIENCE_S)
        errors = child.stderr.read()
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()

    assert ended_with == -signal.SIGTERM
    assert "worker.thread_died" in errors


def test_process_with_live_threads_goes_on(worker, monkeypatch):
    killed = []
    monkeypatch.setattr(process, "_WATCH_EVERY_S", 0.01)
    monkeypatch.setattr(process.os, "kill", lambda *arguments: killed.append(arguments))
    worker.start()
    time.sleep(0.2)
    worker.stop(timeout=60_000)
    time.sleep(0.2)

    assert killed == []


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # newer Pythons warn of forks beside threads
def test_forked_process_opens_its_own_connection(app):
    with db.any_org_work():
        parent_pid = db.db.row("select pg_backend_pid()")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        process.Connections().after_process_boot(dramatiq.get_broker())
        with db.any_org_work():
            os.write(writing, str(db.db.row("select pg_backend_pid()")[0]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    child_pid = int(os.read(reading, 100))

    assert child_pid != parent_pid[0]
    with db.any_org_work():
        assert db.db.row("select pg_backend_pid()") == parent_pid
