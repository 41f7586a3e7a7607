"""The single statement of a unit of work, committed in its own round trip: conditions and lost connections."""

import contextlib
import os
from uuid import uuid4

import peewee
import psycopg2
import pytest

from models import db
from models.prepared_statements import PreparedStatement
from models.session import thread_mode
from tests.support.running.trips import PAUSED, paused_queues, record_round_trips

# Table `queue_pause` (queue, why) belongs to no tenant and is emptied before every test.
_ADD = PreparedStatement("insert into queue_pause (queue, why) values (%s, '') on conflict do nothing returning queue")
_ORG = uuid4()

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture(autouse=True)
def _prepare_statement():
    """Prepare the statement on this connection: its first execution is an ordinary transaction."""
    with db.unit_of_work(_ORG, is_single=True):
        assert db.db.run_single(_ADD, ("warm",)) == [("warm",)]
    with db.any_org_work():
        db.db.stage("delete from queue_pause")


def test_single_statement_is_committed_even_if_the_block_raises():
    with (
        record_round_trips() as messages,
        contextlib.suppress(ZeroDivisionError),
        db.unit_of_work(_ORG, is_single=True),
    ):
        assert db.db.run_single(_ADD, ("one",)) == [("one",)]
        raise ZeroDivisionError

    assert len(messages) == 1
    assert [word in messages[0] for word in (b"begin", b"commit", str(_ORG).encode())] == [False, False, True]
    assert paused_queues() == ["one"]


def test_staged_statements_commit_and_fail_with_the_single_statement():
    with record_round_trips() as messages, db.unit_of_work(_ORG, is_single=True):
        db.db.stage(_ADD, ("one",))
        db.db.run_single(_ADD, ("two",))

    def fail():
        with db.unit_of_work(_ORG, is_single=True):
            db.db.stage(_ADD, ("three",))
            db.db.run_single("select 1 / 0")

    with pytest.raises(peewee.DataError):
        fail()
    assert len(messages) == 1
    assert paused_queues() == ["one", "two"]


def test_later_statements_run_in_another_transaction_of_the_tenant():
    with contextlib.suppress(ZeroDivisionError), db.unit_of_work(_ORG, is_single=True):
        db.db.run_single(_ADD, ("kept",))
        assert db.db.row("select current_setting('app.org')") == (str(_ORG),)
        db.db.run_single(_ADD, ("undone",))
        raise ZeroDivisionError
    with db.any_org_work():
        assert db.db.row("select current_setting('app.org', true)") != (str(_ORG),)

    assert paused_queues() == ["kept"]


@pytest.mark.parametrize(("is_single", "is_first"), [(False, True), (True, False)])
def test_run_single_joins_an_open_transaction(is_single, is_first):
    with contextlib.suppress(ZeroDivisionError), db.unit_of_work(_ORG, is_single=is_single):
        if not is_first:
            db.db.run(PAUSED)
        assert db.db.run_single(_ADD, ("one",)) == [("one",)]
        raise ZeroDivisionError

    assert paused_queues() == []


def test_next_unit_of_work_is_not_single():
    with db.unit_of_work(_ORG, is_single=True):
        db.db.run_single(_ADD, ("one",))
    with contextlib.suppress(ZeroDivisionError), db.any_org_work():
        db.db.run_single(_ADD, ("two",))
        raise ZeroDivisionError

    assert paused_queues() == ["one"]


def test_single_statement_is_recorded_with_recorded_commits():
    with thread_mode.recording_commits() as commits, db.unit_of_work(_ORG, is_single=True):
        db.db.run_single(_ADD, ("one",))
        assert commits.position == 0

    assert commits.position > 0
    assert commits.tenants == {_ORG}


def test_run_single_in_a_read_only_transaction_raises():
    with pytest.raises(peewee.InternalError, match="read-only"), db.read_only(), db.unit_of_work(_ORG, is_single=True):
        db.db.run_single(_ADD, ("one",))

    assert paused_queues() == []


def test_single_statement_replaces_a_dead_idle_connection():
    with contextlib.closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as other:
        other.cursor().execute("select pg_terminate_backend(%s, 60000)", (db.db.connection().get_backend_pid(),))

    with db.unit_of_work(_ORG, is_single=True):
        assert db.db.run_single(_ADD, ("one",)) == [("one",)]

    assert paused_queues() == ["one"]
