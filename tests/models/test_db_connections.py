"""The unit of work when its connection is lost, its server is unreachable, or its thread was interrupted."""

import contextlib
import os
import socket
import threading

import psycopg2
import pytest

from models import db
from models.prepared_statements import PreparedStatement
from models.session.database import Database

# Table `queue_pause` (queue, why) belongs to no tenant and is emptied before every test.
_ADD = "insert into queue_pause (queue, why) values (%s, %s)"
_TEXT = PreparedStatement("select %s::text")
_TIMEOUT_S = 60
_HOT_ADD = PreparedStatement("insert into queue_pause (queue, why) values (%(queue)s, %(queue)s)")

pytestmark = pytest.mark.usefixtures("app")


def _terminate_backend():
    other = psycopg2.connect(os.environ["DATABASE_OWNER_URL"])
    other.autocommit = True
    with other.cursor() as cursor:
        cursor.execute("select pg_terminate_backend(%s, 60000)", (db.db.connection().get_backend_pid(),))
    other.close()


def _list_queues() -> list[str]:
    with db.any_org_work():
        return [queue for (queue,) in db.db.run("select queue from queue_pause order by queue")]


def _roll_back(work):
    with contextlib.suppress(ZeroDivisionError), db.any_org_work():
        work()
        raise ZeroDivisionError


def _run_plain():
    return db.db.row("select %s::text", ("x",))


def _run_prepared():
    return db.db.row(_TEXT, ("x",))


def _stage_and_run_prepared():
    db.db.stage(_HOT_ADD, {"queue": "one"})
    return db.db.row(_TEXT, ("x",))


@pytest.mark.parametrize("work", [_run_plain, _run_prepared, _stage_and_run_prepared])
def test_dead_idle_connection_is_replaced(work):
    _roll_back(work)  # a prepared statement is now prepared on this connection
    _terminate_backend()

    with db.any_org_work():
        row = work()

    assert row == ("x",)
    assert _list_queues() == (["one"] if work is _stage_and_run_prepared else [])


def test_first_prepare_on_a_dead_connection_opens_a_new_one():
    _list_queues()
    _terminate_backend()

    with db.any_org_work():
        assert db.db.row(PreparedStatement("select %s::int + 1"), (2,)) == (3,)


@pytest.mark.parametrize("swallows", [False, True])
def test_connection_lost_in_mid_transaction_raises(swallows):
    def work():
        with db.any_org_work():
            db.db.run(_ADD, ("before", ""))
            _terminate_backend()
            with contextlib.suppress(*db.UNAVAILABLE) if swallows else contextlib.nullcontext():
                db.db.run(_ADD, ("after", ""))

    with pytest.raises(db.UNAVAILABLE):
        work()

    assert _list_queues() == []


def test_commit_on_a_dead_connection_raises():
    def work():
        with db.any_org_work():
            db.db.run(_ADD, ("before", ""))
            db.db.stage(_ADD, ("staged", ""))
            _terminate_backend()

    with pytest.raises(db.UNAVAILABLE):
        work()

    assert _list_queues() == []


def test_transaction_left_open_by_an_interrupt_is_not_committed():
    db.db.connection().cursor().execute("begin; insert into queue_pause (queue) values ('left over')")

    with db.any_org_work():
        db.db.stage(_ADD, ("mine", ""))

    assert _list_queues() == ["mine"]


def test_unreachable_server_leaves_no_transaction_open(tmp_path):
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        for _ in range(2):
            with pytest.raises(db.UNAVAILABLE), db.any_org_work():
                db.db.stage(_ADD, ("one", ""))
            assert not db.in_transaction()
    finally:
        db.connect_to(os.environ["DATABASE_URL"])

    assert _list_queues() == []


def test_threads_connect_to_a_silent_server_at_the_same_time():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(_TIMEOUT_S)
        database = Database(f"postgresql://127.0.0.1:{server.getsockname()[1]}/x", connect_timeout=2 * _TIMEOUT_S)

        def connect():
            with contextlib.suppress(*db.UNAVAILABLE), database.transaction(""):
                database.run("select 1")

        threads = [threading.Thread(target=connect) for _ in range(20)]
        for thread in threads:
            thread.start()
        connections = [
            server.accept()[0] for _ in threads
        ]  # sequential connects would reach the second only after the first times out
        for connection in connections:
            connection.close()
    for thread in threads:
        thread.join()
