"""The unit of work on a real server: staged and prepared statements, rollbacks and savepoints."""

import contextlib
import threading

import peewee
import pytest

from models import db
from models.prepared_statements import PreparedStatement
from tests.support.running.trips import PAUSED, paused_queues, record_round_trips

# Table `queue_pause` (queue, why) belongs to no tenant and is emptied before every test.
_ADD = "insert into queue_pause (queue, why) values (%s, %s)"
_TEXT = PreparedStatement("select %s::text")
_HOT_ADD = PreparedStatement("insert into queue_pause (queue, why) values (%(queue)s, %(queue)s)")

pytestmark = pytest.mark.usefixtures("app")


def _roll_back(work):
    with contextlib.suppress(ZeroDivisionError), db.any_org_work():
        work()
        raise ZeroDivisionError


def _add(queue: str, why: str = ""):
    db.db.stage(_ADD, (queue, why))


def test_staged_statements_are_sent_with_the_next_statement():
    with record_round_trips() as messages, db.any_org_work():
        _add("one")
        _add("two")
        rows = db.db.run(PAUSED)

    assert rows == [("one",), ("two",)]
    assert len(messages) == 2
    assert messages[0].startswith(b"begin; ")
    assert messages[1] == b"commit"


def test_exception_before_the_first_statement_sends_nothing():
    with record_round_trips() as messages:
        _roll_back(lambda: _add("one"))

    assert messages == []


@pytest.mark.parametrize("send", [db.db.stage, db.db.run, db.db.row])
def test_statement_outside_of_a_unit_of_work_raises(send):
    with pytest.raises(RuntimeError, match="needs a unit of work"):
        send(_ADD, ("one", ""))

    assert paused_queues() == []


@pytest.mark.parametrize("ends_with_a_query", [True, False])
def test_error_in_a_staged_statement_rolls_everything_back(ends_with_a_query):
    def work():
        with db.any_org_work():
            db.db.run(PAUSED)
            _add("one")
            _add("one")  # the same key again
            if ends_with_a_query:
                db.db.run(PAUSED)

    with pytest.raises(peewee.IntegrityError):
        work()

    assert paused_queues() == []


def test_commit_after_a_swallowed_error_raises():
    def work():
        with db.any_org_work():
            _add("one")
            with contextlib.suppress(peewee.PeeweeException):
                db.db.run("select 1 / 0")

    with pytest.raises(peewee.InternalError, match="rolled back instead of committed"):
        work()

    assert paused_queues() == []


def test_failed_savepoint_leaves_the_rest_of_the_transaction():
    with db.any_org_work():
        _add("one")
        with contextlib.suppress(peewee.IntegrityError), db.savepoint():
            _add("one")
        _add("two")

    assert paused_queues() == ["one", "two"]


def test_nested_unit_of_work_raises():
    with db.any_org_work():
        _add("one")
        with pytest.raises(RuntimeError, match="open already"), db.any_org_work():
            pass

    assert paused_queues() == ["one"]


@pytest.mark.parametrize("value", ["50 % off", "a;b", "-- no", "'; drop table job; --", 'say "x"', "\\", "%s", "é\n\t"])
def test_values_arrive_unchanged(value):
    with db.any_org_work():
        _add("staged", value)
        staged = db.db.row("select why from queue_pause where queue = %s", ("staged",))
        prepared = db.db.row(_TEXT, (value,))
        db.db.stage(_HOT_ADD, {"queue": value})
        prepared_insert = db.db.row("select why from queue_pause where queue = %s", (value,))

    assert [staged, prepared, prepared_insert] == [(value,), (value,), (value,)]


def test_statement_without_parameters_may_contain_a_percent_sign():
    with db.any_org_work():
        assert db.db.row("select 'a' like '%a%', 7 % 4") == (True, 3)


def test_prepared_statement_is_prepared_once_per_connection():
    with db.any_org_work():
        db.db.run(_TEXT, ("first",))
    with record_round_trips() as messages, db.any_org_work():
        db.db.run(_TEXT, ("second",))

    assert [b"prepare" in trip for trip in messages] == [False, False]


@pytest.mark.parametrize("is_begun", [False, True], ids=["before the first message", "in mid-transaction"])
@pytest.mark.parametrize("is_staged", [False, True], ids=["and runs it", "and stages it"])
def test_preparing_a_statement_sends_no_staged_write(is_begun, is_staged):
    new = PreparedStatement("select %s::text")

    with record_round_trips() as messages, db.any_org_work():
        if is_begun:
            db.db.run(PAUSED)
        _add("one")
        if is_staged:
            db.db.stage(new, ("x",))
        else:
            assert db.db.row(new, ("x",)) == ("x",)
        _add("two")

    writes = [trip for trip in messages if b"insert" in trip]
    assert [trip for trip in writes if b"prepare" in trip] == []
    assert (b"execute" in writes[0], b"commit" in writes[-1]) == (True, True)
    assert paused_queues() == ["one", "two"]


def test_failed_prepare_rolls_back_to_its_savepoint_only():
    with db.any_org_work():
        _add("one")
        with contextlib.suppress(peewee.ProgrammingError), db.savepoint():
            _add("lost")
            db.db.run(PreparedStatement("select nothing from nowhere where id = %s"), (1,))
        _add("two")

    assert paused_queues() == ["one", "two"]


def test_prepared_statement_is_usable_after_a_rollback():
    _roll_back(lambda: db.db.run(_TEXT, ("x",)))

    with db.any_org_work():
        assert db.db.row(_TEXT, ("y",)) == ("y",)


def test_failed_prepare_leaves_the_connection_usable():
    invalid = PreparedStatement("select nothing from nowhere where id = %s")

    def work():
        with db.any_org_work():
            _add("one")
            db.db.run(invalid, (1,))

    for _ in range(2):
        with pytest.raises(peewee.ProgrammingError, match="nowhere"):
            work()

    with db.any_org_work():
        assert db.db.row(_TEXT, ("fine",)) == ("fine",)
    assert paused_queues() == []


def test_threads_do_not_share_transactions():
    observed: dict[str, object] = {}

    def read_other_thread():
        observed["in transaction"] = db.in_transaction()
        observed["stored"] = paused_queues()
        db.db.drop_connection()

    with db.any_org_work():
        db.db.run(_ADD, ("one", ""))
        thread = threading.Thread(target=read_other_thread)
        thread.start()
        thread.join()

    assert observed == {"in transaction": False, "stored": []}
    assert paused_queues() == ["one"]
