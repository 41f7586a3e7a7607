"""Read-only units of work, at the primary and at a replica, and recorded commits."""

import os
import threading

import peewee
import psycopg2.extensions
import pytest

from models import db
from models.prepared_statements import PreparedStatement
from models.session import thread_mode
from models.upkeep import log_positions
from tests.support import databases

# Table `queue_pause` (queue, why) belongs to no tenant and is emptied before every test.
_ADD = "insert into queue_pause (queue, why) values ('one', '')"
_SETTINGS = PreparedStatement(
    "select current_setting('app.org'), current_setting('transaction_read_only'), current_user::text where %s"
)

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture(params=[False, True], ids=["session", "transaction"])
def _session_and_pooled(request):
    db.db.drop_connection()
    url = os.environ["DATABASE_URL"]
    db.connect_to(url, replica_url=url, is_pooled=request.param)
    yield
    db.db.drop_connection()
    db.connect_to(url)


def _divide_by_zero():
    with pytest.raises(peewee.DataError):
        db.db.row("select 1 / 0")


def _count_rows() -> int:
    with db.any_org_work():
        return db.db.row("select count(*) from queue_pause")[0]


@pytest.mark.usefixtures("_session_and_pooled")
def test_write_in_a_read_only_transaction_raises():
    with db.read_only(), pytest.raises(peewee.PeeweeException, match="read-only transaction"), db.any_org_work():
        db.db.run(_ADD)
    with db.any_org_work():
        db.db.run(_ADD)

    assert _count_rows() == 1


@pytest.mark.usefixtures("_session_and_pooled")
def test_read_at_a_non_replica_raises_and_keeps_the_primary_connection():
    with db.any_org_work():
        pid = db.db.row("select pg_backend_pid()")
    for _ in range(2):
        with pytest.raises(db.UNAVAILABLE, match="no replica"), db.read_only(0), db.any_org_work():
            db.db.row("select 1")

    with db.any_org_work():
        assert db.db.row("select pg_backend_pid()") == pid


@pytest.mark.usefixtures("_session_and_pooled")
def test_recorded_commit_has_position_and_tenant_without_a_round_trip(brand):
    trips: list[bytes] = []
    with db.any_org_work():
        before = log_positions.any_org_read_primary()
    with thread_mode.recording_commits() as commits:
        db.db.trip_hooks.append(trips.append)
        with db.unit_of_work(brand.id):
            db.db.run("update organization set name = 'Another' where id = %s returning 1", (brand.id,))
        db.db.trip_hooks.clear()
    with db.any_org_work():
        after = log_positions.any_org_read_primary()

    assert before < commits.position <= after
    assert commits.tenants == {brand.id}
    assert len(trips) == 2


@pytest.mark.usefixtures("_session_and_pooled")
def test_recorded_commit_after_a_swallowed_error_raises():
    with (
        thread_mode.recording_commits() as commits,
        pytest.raises(peewee.InternalError, match="rolled back"),
        db.any_org_work(),
    ):
        _divide_by_zero()

    assert (commits.position, _count_rows()) == (0, 0)


def test_recording_covers_its_own_thread_and_block_only():
    def write():
        with db.any_org_work():
            db.db.run(_ADD)
        db.db.drop_connection()

    with thread_mode.recording_commits() as outer:
        with thread_mode.recording_commits() as inner:
            other = threading.Thread(target=write)
            other.start()
            other.join()
        assert inner.position == 0
        with db.read_only(), db.any_org_work():
            db.db.row("select 1")

    assert outer.position == 0


@pytest.mark.usefixtures("_session_and_pooled")
@pytest.mark.parametrize("fails", [False, True], ids=["and is answered", "and fails"])
def test_read_is_one_round_trip_and_leaves_no_settings_behind(brand, fails):
    trips: list[bytes] = []
    with db.read_only(), db.unit_of_work(brand.id):
        assert db.db.row(_SETTINGS, (True,)) == (
            str(brand.id),
            "on",
            "finderfee_app",
        )  # a new connection also prepares the statement here
        db.db.trip_hooks.append(trips.append)
        if fails:
            _divide_by_zero()
        else:
            db.db.row(_SETTINGS, (True,))
        db.db.trip_hooks.clear()
    connection = db.db.connection()
    with connection.cursor() as cursor:
        cursor.execute(
            "select coalesce(current_setting('app.org', true), ''), current_setting('transaction_read_only')"
        )
        settings_after = cursor.fetchone()

    assert len(trips) == 1
    assert settings_after == ("", "off")
    assert connection.get_transaction_status() == psycopg2.extensions.TRANSACTION_STATUS_IDLE
    with db.any_org_work():
        assert db.db.row("select count(*) from organization where id = %s", (brand.id,)) == (1,)


@pytest.mark.usefixtures("_session_and_pooled")
def test_each_read_sees_only_its_own_tenant(brand, rival):
    results = []
    with db.read_only():
        for tenant in (brand, rival, brand):
            with db.unit_of_work(tenant.id):
                results += [db.db.run("select id from organization") for _ in range(2)]

    assert results == [[(tenant.id,)] for tenant in (brand, brand, rival, rival, brand, brand)]


@pytest.mark.usefixtures("_session_and_pooled")
def test_local_settings_of_a_read_apply_in_their_block_only():
    sql = "select current_setting('enable_seqscan')"
    with db.read_only(), db.any_org_work():
        before = db.db.row(sql)
        with db.allowing_table_scans():
            inside = [db.db.row(sql), db.db.row(PreparedStatement(f"{sql} where %s"), (True,))]
        after = db.db.row(sql)

    assert (before, inside, after) == (("off",), [("on",), ("on",)], ("off",))


def test_staging_in_a_read_only_transaction_raises():
    with db.read_only(), pytest.raises(RuntimeError, match="stages nothing"), db.any_org_work():
        db.db.stage(_ADD)

    assert _count_rows() == 0


@pytest.mark.usefixtures("_session_and_pooled")
def test_read_continues_after_a_connection_lost_between_two_statements(brand):
    with db.read_only(), db.unit_of_work(brand.id):
        (pid,) = db.db.row("select pg_backend_pid()")
        db.db.row(_SETTINGS, (True,))
        databases.run_as_owner(os.environ["DATABASE_OWNER_URL"], f"select pg_terminate_backend({pid}, 60000)")

        assert db.db.row(_SETTINGS, (True,)) == (str(brand.id), "on", "finderfee_app")
