"""The database goes back to a moment before payouts were sent, and nobody is paid a second time."""

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
from tests.faults.servers import restoring
from tests.faults.servers.restoring import Operator, following_log
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_SLUGS = ("ann", "cid")
_CENTS = 2_000


@contextmanager
def _own_server(cluster: Path, password: Path) -> Iterator[str]:
    """Run a PostgreSQL as its own tools would, with none of the options that ours has; yield the owner's URL."""
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
    machine: Machine, shop: Shop, service: FakeProcessor, tmp_path: Path
) -> None:
    # given: a copy, the log after it, sales that are settled, and a run whose payouts wait
    backups, again = tmp_path / "backups", tmp_path / "again"
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    with machine.use_models():
        payroll = Payroll(shop.brand)
        payroll.execute("update organization set verification_state = 'verified', payout_grace_days = 0")
        for slug in _SLUGS:
            payroll.affiliate(slug)
    following = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is received")
        made = operator("backup", "make", backups)
        assert [one["name"] for one in operator("backup", "list", backups)] == [made["name"]]
        for slug in _SLUGS:
            shop.sell(affiliateSlug=slug)
        machine.wait_until_settled()
        with machine.pause_queue("payouts"):
            with machine.use_models():
                payroll.run(len(_SLUGS) * _CENTS)
            (moment,) = machine.rows("select clock_timestamp()")[0]

            # when: they are paid after that moment, and the log of it is kept
            later = shop.sell(affiliateSlug="ann")
        machine.wait_until(lambda: len(service.books) == len(_SLUGS), "they are paid")
        machine.wait_until_settled()
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(
            lambda: (backups / "log" / segment).exists(),
            f"{segment} of the log is received",
        )
    finally:
        following.send_signal(signal.SIGINT)
        following.wait()
        restoring.drop_slot(machine)
    keys = sorted(one.key for one in service.books)

    # then: the database is as it was, and a folder that has one is refused
    there = Operator(machine, DATA_DIR=str(again), DATABASE_URL="", DATABASE_OWNER_URL="")
    there("restore", "run", backups, "--to", moment.isoformat())
    assert "has a database" in there("restore", "run", backups, code=1)
    urls = server_pair.start(again, valkey=False, durable=True)
    try:
        told = {"DATABASE_URL": urls.database_url, "DATABASE_OWNER_URL": urls.database_owner_url}
        assert _payouts(urls.database_owner_url, shop) == [("Pending",)]
        of_later = f"select count(*) from sale where external_event_id = '{later}'"
        assert restoring.rows(urls.database_owner_url, of_later) == [(0,)]
        _are_paid_once_in_the_end(machine, shop, told, moment)
        assert sorted(one.key for one in service.books) == keys
    finally:
        machine.kill(*machine.processes)
        machine.forget_killed_fleets()
        server_pair.stop(again)


def _payouts(url: str, shop: Shop) -> list[tuple[Any, ...]]:
    """Return how a shop's payouts stand; other tests of this machine have left theirs in the same database."""
    return restoring.rows(url, f"select distinct status from payout where organization_id = '{shop.id}'")


def _are_paid_once_in_the_end(machine: Machine, shop: Shop, told: dict[str, str], moment: datetime) -> None:
    operator, url = Operator(machine, **told), told["DATABASE_OWNER_URL"]

    # the restored database is worked on: payouts are due and stay
    machine.kill(*machine.processes)
    machine.forget_killed_fleets()
    operator("jobs", "resume", "payouts")
    for name in ("relay", "payouts"):
        machine.launch(name, variables=told)
    waiting = "select count(*) from job where name = 'payout.transfer' and run_at > now()"
    machine.wait_until(lambda: restoring.rows(url, waiting) == [(len(_SLUGS),)], "the transfers wait")
    assert _payouts(url, shop) == [("Pending",)]
    assert operator("restore", "status")["held"]

    # released although nothing was compared, they are found at the rail
    release = ("restore", "release", "--restored-to", moment.isoformat(), "--why", "compared by hand")
    assert "was not compared" in operator(*release, code=1)
    said = operator(*release, "--without-reconcile")
    assert said["lookedUp"] == len(_SLUGS)
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("update job set run_at = now()")
        connection.commit()
    machine.wait_until(lambda: _payouts(url, shop) == [("Paid",)], "they are known to be paid")
    assert operator("ledger", "check")["broken"] == []


@pytest.mark.timeout(600)
def test_external_server_is_restored_from_the_unpruned_backup(machine: Machine, tmp_path: Path) -> None:
    # given: two copies, what a killed one left behind, and the log of what was written before a moment and after it
    backups, cluster = tmp_path / "back 'ups", tmp_path / "cluster"
    operator = Operator(machine, DATABASE_OWNER_URL=machine.urls.database_owner_url)
    following = operator.start("backup", "follow", backups, log=machine.home / "follow.out")
    is_read = ("finderfee_log_slot_read{", 'slot="finderfee_backup"')
    try:
        machine.wait_until(lambda: any((backups / "log").glob("*.partial")), "the log is received")
        machine.wait_until(lambda: machine.sum_metric(*is_read) == 1, "the page says that somebody follows")
        older = operator("backup", "make", backups)
        (backups / "base/20200101T000000Z.draft/pg_wal").mkdir(parents=True)
        machine.execute("create table note (n int)")
        machine.execute("insert into note values (1)")
        newer = operator("backup", "make", backups)
        (moment,) = machine.rows("select clock_timestamp()")[0]
        machine.execute("insert into note values (2)")
        segment = machine.rows("select pg_walfile_name(pg_switch_wal())")[0][0]
        machine.wait_until(lambda: (backups / "log" / segment).exists(), f"{segment} of the log is received")

        # when
        assert [one["name"] for one in operator("backup", "prune", backups, "--keep", 1)] == [older["name"]]
    finally:
        following.send_signal(signal.SIGINT)
        following.wait()
        machine.wait_until(lambda: machine.sum_metric(*is_read) == 0, "nobody follows, and the page says so")
        machine.execute("select pg_logical_emit_message(true, 'note', '3')")
        kept = ("finderfee_log_slot_kept_bytes{", 'slot="finderfee_backup"')
        machine.wait_until(
            lambda: machine.sum_metric(*kept) > 0, "what is written is kept for who follows, and the page says so"
        )
        restoring.drop_slot(machine)
        machine.execute("drop table if exists note")

    # then
    assert [path.name for path in (backups / "base").iterdir()] == [newer["name"]]
    assert "--into" in operator("restore", "run", backups, code=1)
    operator("restore", "run", backups, "--to", moment.isoformat(), "--into", cluster)
    with _own_server(cluster, data_folder.resolve(machine.home).owner_password) as url:
        machine.wait_until(lambda: _answers(url), "the log is replayed")
        assert restoring.rows(url, "select n from note") == [(1,)]
        assert "recovery" not in (cluster / "postgresql.auto.conf").read_text()
        told = Operator(machine, DATABASE_OWNER_URL=url)
        assert told.start("backup", "follow", backups, log=machine.home / "follow.out").wait() == 1
        assert "follow into a new folder" in machine.read_output("follow")
    (backups / "server").write_text("7")
    assert "another server" in operator("backup", "make", backups, code=1)


def _answers(url: str) -> bool:
    try:
        return bool(restoring.rows(url, "select 1"))
    except psycopg2.OperationalError:
        return False


@pytest.mark.timeout(600)
def test_backup_reports_whether_its_log_is_received(machine: Machine, tmp_path: Path) -> None:
    backups = tmp_path / "backups"

    def warns(operator: Operator) -> bool:
        said = tmp_path / "make.out"
        assert operator.start("backup", "make", backups, log=said).wait() == 0
        return "the log is not being received" in said.read_text()

    # a copy ends a segment of the log, and for a moment none is begun
    with following_log(machine, backups) as operator:
        assert not any(warns(operator) for _ in range(3))
    assert warns(operator)
