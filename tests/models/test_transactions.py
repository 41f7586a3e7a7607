"""Messages sent to PostgreSQL in each transaction mode: the table of models/session/transactions.py."""

import contextlib
import os
import re
from uuid import uuid4

import pytest

from models import db
from models.session import thread_mode
from tests.support.running.trips import record_round_trips

_ORG = uuid4()
# Table `queue_pause` (queue, why) belongs to no tenant and is emptied before every test.
_INSERT = "insert into queue_pause (queue, why) values ('one', '')"
_PARTS = {
    "begin": r"^begin",
    "read only": "transaction_read_only = on",
    "settings": "set local role",
    "tenant": r"set_config\('app.org'",
    "position check": "replica_stands_at",
    "insert": "insert into queue_pause",
    "select": "select 1",
    "commit": r"^commit|\ncommit",
    "position": "pg_current_wal_insert_lsn",
}

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture(params=[False, True], ids=["own connection", "pool"])
def settings(request):
    """Yield the parts sent ahead of each transaction: the session settings, if connections are pooled."""
    db.db.drop_connection()
    url = os.environ["DATABASE_URL"]
    db.connect_to(url, replica_url=url, is_pooled=request.param)
    yield ["settings"] if request.param else []
    db.db.drop_connection()
    db.connect_to(url)


def _record(modes, *statements, **options) -> list[list[str]]:
    """Return the parts of each message of a unit of work with these statements, in order."""
    with contextlib.ExitStack() as stack:
        for mode in modes:
            stack.enter_context(mode)
        messages = stack.enter_context(record_round_trips())
        stack.enter_context(contextlib.suppress(*db.UNAVAILABLE))  # the test server is not a replica
        with db.unit_of_work(_ORG, **options):
            for send, sql in statements:
                send(sql)
    matches = [{name: re.search(part, sql.decode()) for name, part in _PARTS.items()} for sql in messages]
    return [sorted((name for name in match if match[name]), key=lambda name: match[name].start()) for match in matches]


def test_read_write_sends_begin_with_the_first_statement_and_commit_at_the_end(settings):
    run, stage = (db.db.run, "select 1"), (db.db.stage, _INSERT)
    opening = ["begin", *settings, "tenant"]

    assert _record([]) == []
    assert _record([], run, run) == [[*opening, "select"], ["select"], ["commit"]]
    assert _record([], stage) == [[*opening, "insert", "commit"]]
    with db.any_org_work():
        db.db.stage("delete from queue_pause")
    assert _record([], run, stage) == [[*opening, "select"], ["insert", "commit"]]


def test_recorded_commits_return_the_position_with_the_commit(settings):
    opening = ["begin", *settings, "tenant"]

    messages = _record([thread_mode.recording_commits()], (db.db.run_single, "select 1"), is_single=True)

    assert messages == [[*opening, "select"], ["commit", "position"]]


def test_single_statement_is_one_message_without_begin_and_commit(settings):
    assert _record([], (db.db.run_single, "select 1"), is_single=True) == [[*settings, "tenant", "select"]]


def test_read_only_sends_each_statement_as_a_whole_transaction(settings):
    run = (db.db.run, "select 1")

    assert _record([db.read_only()], run, run) == [["read only", *settings, "tenant", "select"]] * 2


def test_read_at_a_replica_checks_its_position_with_each_statement(settings):
    messages = _record([db.read_only(0)], (db.db.run, "select 1"))

    assert messages == [["read only", *settings, "tenant", "position check", "select"]]
