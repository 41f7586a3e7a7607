"""Lists are read from a replica that lags, stops replaying and crashes; callers still see their own writes."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.servers.replica import Replica
from tests.support.installation import pgbouncer
from tests.support.installation.machine import Machine
from tests.support.installation.pgbouncer import PgBouncer
from tests.support.installation.shop import Shop

# Longer than a test takes, so that callers who did not write still read from a replica that has stopped replaying.
_LAG_S = 300
# The broker stores which callers wrote. If it does not respond in a quarter of a second the primary is read, which
# would change the counts; so the web server waits longer.
_PATIENT_SETTINGS = ["-c", "tests/support/installation/web_settings/patient.py"]
# Fewer than the web server has threads, so that many threads share each connection.
_CONNECTIONS = 2


@pytest.fixture
def replica(machine: Machine) -> Iterator[Replica]:
    """Restart the web server with a replica for reads."""
    replica = Replica(machine.home)
    machine.kill("web")
    machine.forget_killed_fleets()
    try:
        # Marks the broker as known: what a new one knows of writes is used only after the maximum lag.
        machine.valkey().set("{finderfee:reads}:known", 1)
        variables = {"DATABASE_READ_URL": replica.url, "DATABASE_READ_LAG_S": str(_LAG_S)}
        machine.start("web", modules=_PATIENT_SETTINGS, variables=variables)
        yield replica
        machine.kill("web")
        machine.forget_killed_fleets()
    finally:
        replica.close()


@pytest.fixture
def replica_behind_pools(machine: Machine) -> Iterator[Replica]:
    """Restart the web server with a replica for reads, with a PgBouncer in front of the primary and of the replica."""
    replica = Replica(machine.home)
    pools = [
        PgBouncer(machine.home, machine.urls.database_url, size=_CONNECTIONS),
        PgBouncer(machine.home, replica.url, size=_CONNECTIONS, wait_s=5),
    ]
    machine.kill("web")
    machine.forget_killed_fleets()
    try:
        machine.valkey().set("{finderfee:reads}:known", 1)
        read_url = pools[1].environment["DATABASE_URL"]
        variables = {"DATABASE_READ_URL": read_url, "DATABASE_READ_LAG_S": str(_LAG_S)}
        machine.start("web", modules=_PATIENT_SETTINGS, variables=pools[0].environment | variables)
        yield replica
        machine.kill("web")
        machine.forget_killed_fleets()
    finally:
        for pool in pools:
            pool.close()
        replica.close()


@pytest.fixture
def other_shop(shop: Shop) -> Iterator[Shop]:
    """Return a second brand, with its own affiliates."""
    other_shop = Shop(shop.machine)
    yield other_shop
    other_shop.close()


def _call_api(shop: Shop, method: str, path: str, body: object = None) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {shop.brand.api_key}", "Content-Type": "application/json"}
    answer = shop.send_once(path, b"" if body is None else json.dumps(body).encode(), headers, method)
    assert answer is not None
    assert answer[0] in (200, 201), answer
    return json.loads(answer[1])


def _list_emails(shop: Shop) -> set[str]:
    return {row["email"] for row in _call_api(shop, "GET", "/api/v1/affiliates?take=200")["items"]}


def _add_affiliate(shop: Shop, name: str) -> str:
    email = f"{name}@{shop.id.hex}.example"
    _call_api(
        shop, "POST", "/api/v1/affiliates", {"email": email, "name": name, "programId": str(shop.brand.programs[0])}
    )
    return email


def _count_reads(machine: Machine, server: str, reason: str) -> int:
    return machine.sum_metric("finderfee_reads_total{", f'server="{server}"', f'why="{reason}"')


def _read_metric(shop: Shop, name: str) -> float:
    answer = shop.send_once("/metrics", b"", {}, "GET")
    assert answer is not None
    return next(float(line.split()[1]) for line in answer[1].decode().splitlines() if line.startswith(f"{name} "))


def _wait_for_replica_read(shop: Shop) -> None:
    before = _count_reads(shop.machine, "replica", "")

    def is_read() -> bool:
        _list_emails(shop)
        return _count_reads(shop.machine, "replica", "") > before

    shop.machine.wait_until(is_read, "a list is read from the replica")


def _pause_replay(machine: Machine, replica: Replica) -> None:
    replica.fetch_value("select pg_wal_replay_pause()::text")
    machine.wait_until(
        lambda: replica.fetch_value("select pg_get_wal_replay_pause_state()") == "paused", "the replay is paused"
    )


def test_caller_reads_own_writes_while_the_replica_lags(
    machine: Machine, replica: Replica, shop: Shop, other_shop: Shop
) -> None:
    # given: the lists of both brands are read from the replica
    other_emails = _list_emails(other_shop)
    for brand in (shop, other_shop):
        _wait_for_replica_read(brand)

    # when: the replica stops replaying, and one brand writes
    _pause_replay(machine, replica)
    before = _count_reads(machine, "primary", "wrote")
    added = [_add_affiliate(shop, f"new-{number}") for number in range(3)]

    # then
    for _ in range(5):
        assert set(added) <= _list_emails(shop)
    assert _count_reads(machine, "primary", "wrote") == before + 5
    before = _count_reads(machine, "replica", "")
    assert _list_emails(other_shop) == other_emails
    assert _count_reads(machine, "replica", "") == before + 1
    assert _read_metric(shop, "finderfee_replica_up") == 1
    assert _read_metric(shop, "finderfee_replica_lag_bytes") > 0

    # when: the replica replays again
    replica.fetch_value("select pg_wal_replay_resume()::text")

    # then
    _wait_for_replica_read(shop)
    assert set(added) <= _list_emails(shop)


def test_dead_replica_fails_no_request_and_leaks_no_rows(
    machine: Machine, replica: Replica, shop: Shop, other_shop: Shop
) -> None:
    # given
    emails, other_emails = (
        {_add_affiliate(shop, "mine")} | _list_emails(shop),
        {_add_affiliate(other_shop, "theirs")} | _list_emails(other_shop),
    )
    is_over = threading.Event()
    rounds: list[int] = []

    def read_lists() -> None:
        while not is_over.wait(0.02):
            assert _list_emails(shop) == emails
            assert _list_emails(other_shop) == other_emails
            rounds.append(1)

    _wait_for_replica_read(shop)

    # when
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read_lists) for _ in range(3)]
        try:
            machine.wait_until(lambda: len(rounds) > 20, "lists are read")
            replica.kill()
            rounds_before = len(rounds)
            machine.wait_until(lambda: len(rounds) > rounds_before + 20, "lists are read without the replica")
            assert _count_reads(machine, "primary", "away") > 0
            assert _read_metric(shop, "finderfee_replica_up") == 0
            replica.start()
            _wait_for_replica_read(shop)
        finally:
            is_over.set()

    # then
    for reader in readers:
        reader.result()
    assert set(shop.statuses) | set(other_shop.statuses) <= {200, 201}


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="PgBouncer is not installed")
def test_replica_reads_work_behind_connection_pools(
    machine: Machine, replica_behind_pools: Replica, shop: Shop, other_shop: Shop
) -> None:
    # given: the lists of both brands are read from the replica, which then stops replaying
    other_emails = _list_emails(other_shop)
    for brand in (shop, other_shop):
        _wait_for_replica_read(brand)
    _pause_replay(machine, replica_behind_pools)
    primary_reads, replica_reads = _count_reads(machine, "primary", "wrote"), _count_reads(machine, "replica", "")

    # when: both brands read at the same time, on connections that the tenants share
    emails = _list_emails(shop) | {_add_affiliate(shop, "new")}
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(_list_emails, [shop, other_shop] * 12))

    # then
    assert results == [emails, other_emails] * 12
    assert _count_reads(machine, "primary", "wrote") == primary_reads + 12
    assert _count_reads(machine, "replica", "") == replica_reads + 13

    # when: the replica crashes and starts again, while its PgBouncer stays up
    replica_behind_pools.kill()
    assert [_list_emails(brand) for brand in (shop, other_shop)] == [emails, other_emails]
    assert _count_reads(machine, "primary", "away") > 0
    replica_behind_pools.start()

    # then
    _wait_for_replica_read(other_shop)
    machine.wait_until(lambda: _list_emails(shop) == emails, "the replica has the new affiliate")
    assert set(shop.statuses) | set(other_shop.statuses) <= {200, 201}
