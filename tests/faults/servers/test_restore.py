"""The database is restored to a time before payouts were sent, and no affiliate is paid twice."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from adapters.embedded import data_folder, runners, server_pair
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.faults.servers import restores
from tests.faults.servers.restores import Operator, follow_log
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_SLUGS = ("ann", "cid")
_CENTS = 2_000


@contextmanager
def _run_plain_server(cluster: Path, password: Path) -> Iterator[str]:
    """Run a PostgreSQL with its own tools, without the options of the embedded server; yield the owner's URL."""
    sockets = Path(tempfile.mkdtemp(prefix="ff-own-", dir="/tmp"))
    runner = runners.choose_runner(data_folder.resolve(sockets))
    for folder in (cluster, sockets):
        runner.change_owner(folder)
    log, ctl = sockets / "log", ["pg_ctl", "-D", str(cluster), "-w", "-s"]
    options = f"-c listen_addresses= -c unix_socket_directories={sockets}"
    assert runner.run([*ctl, "-l", str(log), "-o", options, "start"], log=log), log.read_text()
    try:
        yield f"postgresql://finderfee@/finderfee?host={sockets}&password=&passfile={password}"
    finally:
        runner.run([*ctl, "-m", "immediate", "stop"], log=log)
        shutil.rmtree(sockets)


@pytest.mark.timeout(600)
def test_restore_to_before_transfers_pays_no_one_twice(
    machine: Machine, shop: Shop, processor: FakeProcessor, tmp_path: Path
) -> None:
    # given: a backup, the log after it, settled sales, and a run with pending payouts
    backups, again = tmp_path / "backups", tmp_path / "again"
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    with machine.use_models():
        payroll = Payroll(shop.brand)
        payroll.execute("update organization set verification_state = 'verified', payout_grace_days = 0")
        for slug in _SLUGS:
            payroll.affiliate(slug)
    follower = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is followed")
        backup = operator("backup", "make", backups)
        assert [entry["name"] for entry in operator("backup", "list", backups)] == [backup["name"]]
        for slug in _SLUGS:
            shop.sell(affiliateSlug=slug)
        machine.wait_until_settled()
        with machine.pause_queue("payouts"):
            with machine.use_models():
                payroll.run(len(_SLUGS) * _CENTS)
            (restore_to,) = machine.rows("select clock_timestamp()")[0]

            # when: they are paid after that time, and the log has it
            later_sale = shop.sell(affiliateSlug="ann")
        machine.wait_until(lambda: len(processor.books) == len(_SLUGS), "the payouts are paid")
        machine.wait_until_settled()
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(
            lambda: (backups / "log" / segment).exists(),
            f"{segment} of the log is received",
        )
    finally:
        follower.send_signal(signal.SIGINT)
        follower.wait()
        restores.drop_slot(machine)
    keys = sorted(payment.key for payment in processor.books)

    # then: the database is as before, and a restore into a folder with a database is refused
    restore_operator = Operator(machine, DATA_DIR=str(again), DATABASE_URL="", DATABASE_OWNER_URL="")
    restore_operator("restore", "run", backups, "--to", restore_to.isoformat())
    assert "has a database" in restore_operator("restore", "run", backups, code=1)
    urls = server_pair.start(again, valkey=False, durable=True)
    try:
        variables = {"DATABASE_URL": urls.database_url, "DATABASE_OWNER_URL": urls.database_owner_url}
        assert _list_payout_statuses(urls.database_owner_url, shop) == [("Pending",)]
        count_later_sale = f"select count(*) from sale where external_event_id = '{later_sale}'"
        assert restores.fetch_rows(urls.database_owner_url, count_later_sale) == [(0,)]
        _assert_paid_once(machine, shop, variables, restore_to)
        assert sorted(payment.key for payment in processor.books) == keys
    finally:
        machine.kill(*machine.processes)
        machine.forget_killed_fleets()
        server_pair.stop(again)


def _list_payout_statuses(url: str, shop: Shop) -> list[tuple[Any, ...]]:
    """Return the statuses of a shop's payouts; the database also has those of other tests."""
    return restores.fetch_rows(url, f"select distinct status from payout where organization_id = '{shop.id}'")


def _assert_paid_once(machine: Machine, shop: Shop, variables: dict[str, str], restore_to: datetime) -> None:
    operator, url = Operator(machine, **variables), variables["DATABASE_OWNER_URL"]

    # processes run on the restored database: its due payouts are held
    machine.kill(*machine.processes)
    machine.forget_killed_fleets()
    operator("jobs", "resume", "payouts")
    for name in ("relay", "payouts"):
        machine.launch(name, variables=variables)
    waiting = "select count(*) from job where name = 'payout.transfer' and run_at > now()"
    machine.wait_until(lambda: restores.fetch_rows(url, waiting) == [(len(_SLUGS),)], "the transfers are held")
    assert _list_payout_statuses(url, shop) == [("Pending",)]
    assert operator("restore", "status")["held"]

    # released without a comparison: the payouts are found at the rail
    release = ("restore", "release", "--restored-to", restore_to.isoformat(), "--why", "compared by hand")
    assert "was not compared" in operator(*release, code=1)
    released = operator(*release, "--without-reconcile")
    assert released["lookedUp"] == len(_SLUGS)
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("update job set run_at = now()")
        connection.commit()
    machine.wait_until(lambda: _list_payout_statuses(url, shop) == [("Paid",)], "the payouts are found to be paid")
    assert operator("ledger", "check")["broken"] == []


@pytest.mark.timeout(600)
def test_external_server_is_restored_from_the_unpruned_backup(machine: Machine, tmp_path: Path) -> None:
    # given: two backups, files of a killed one, and the log with rows from before and after a time
    backups, cluster = tmp_path / "back 'ups", tmp_path / "cluster"
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    follower = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    is_followed = ("finderfee_log_slot_read{", 'slot="finderfee_backup"')
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is followed")
        machine.wait_until(lambda: machine.sum_metric(*is_followed) == 1, "the metric says that the log is followed")
        old_backup = operator("backup", "make", backups)
        (backups / "base/20200101T000000Z.draft/pg_wal").mkdir(parents=True)
        machine.execute("create table note (n int)")
        machine.execute("insert into note values (1)")
        new_backup = operator("backup", "make", backups)
        (restore_to,) = machine.rows("select clock_timestamp()")[0]
        machine.execute("insert into note values (2)")
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(lambda: (backups / "log" / segment).exists(), f"{segment} of the log is received")

        # when
        assert [entry["name"] for entry in operator("backup", "prune", backups, "--keep", 1)] == [old_backup["name"]]
    finally:
        follower.send_signal(signal.SIGINT)
        follower.wait()
        machine.wait_until(
            lambda: machine.sum_metric(*is_followed) == 0, "the metric says that the log is not followed"
        )
        machine.execute("select pg_logical_emit_message(true, 'note', '3')")
        kept_bytes = ("finderfee_log_slot_kept_bytes{", 'slot="finderfee_backup"')
        machine.wait_until(
            lambda: machine.sum_metric(*kept_bytes) > 0, "the metric counts the log that is kept for the follower"
        )
        restores.drop_slot(machine)
        machine.execute("drop table if exists note")

    # then
    assert [path.name for path in (backups / "base").iterdir()] == [new_backup["name"]]
    assert "--into" in operator("restore", "run", backups, code=1)
    operator("restore", "run", backups, "--to", restore_to.isoformat(), "--into", cluster)
    with _run_plain_server(cluster, data_folder.resolve(machine.home).owner_password) as url:
        machine.wait_until(lambda: _is_up(url), "the server has replayed the log")
        assert restores.fetch_rows(url, "select n from note") == [(1,)]
        assert "recovery" not in (cluster / "postgresql.auto.conf").read_text()
        other_operator = Operator(machine, DATABASE_OWNER_URL=url)
        assert other_operator.start("backup", "follow", backups, log=machine.home / "follow.out").wait() == 1
        assert "follow into a new folder" in machine.read_output("follow")
    (backups / "server").write_text("7")
    assert "another server" in operator("backup", "make", backups, code=1)


def _is_up(url: str) -> bool:
    try:
        return bool(restores.fetch_rows(url, "select 1"))
    except psycopg2.OperationalError:
        return False


@pytest.mark.timeout(600)
def test_backup_reports_whether_its_log_is_received(machine: Machine, tmp_path: Path) -> None:
    backups = tmp_path / "backups"

    def warns(operator: Operator) -> bool:
        output = tmp_path / "make.out"
        assert operator.start("backup", "make", backups, log=output).wait() == 0
        return "the log is not being received" in output.read_text()

    # a backup ends a segment of the log, and the next one may not be begun yet
    with follow_log(machine, backups) as operator:
        assert not any(warns(operator) for _ in range(3))
    assert warns(operator)
