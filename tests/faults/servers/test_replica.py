"""Lists come from a replica that lags, stands still and dies, and nobody who wrote is shown less than they wrote."""

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

# Longer than a test takes, so that a replica that stands still is not too far behind for those who did not write.
_LAG_S = 300
# Who wrote is known from the broker's server. What that does not say in a quarter of a second is read at the primary,
# and counted so.
_PATIENT = ["-c", "tests/support/installation/web_settings/patient.py"]
# Fewer than the web server has threads, so each is used by many in turn.
_CONNECTIONS = 2


@pytest.fixture
def replica(machine: Machine) -> Iterator[Replica]:
    """Restart the web server with a replica to read at."""
    made = Replica(machine.home)
    machine.kill("web")
    machine.forget_killed_fleets()
    try:
        # A broker's server that was there before: a new one is believed after the longest lag.
        machine.valkey().set("{finderfee:reads}:known", 1)
        told = {"DATABASE_READ_URL": made.url, "DATABASE_READ_LAG_S": str(_LAG_S)}
        machine.start("web", modules=_PATIENT, variables=told)
        yield made
        machine.kill("web")
        machine.forget_killed_fleets()
    finally:
        made.close()


@pytest.fixture
def behind_pools(machine: Machine) -> Iterator[Replica]:
    """Restart the web server with a replica to read at, behind a pool of transactions before each of the two."""
    made = Replica(machine.home)
    pools = [
        PgBouncer(machine.home, machine.urls.database_url, size=_CONNECTIONS),
        PgBouncer(machine.home, made.url, size=_CONNECTIONS, wait_s=5),
    ]
    machine.kill("web")
    machine.forget_killed_fleets()
    try:
        machine.valkey().set("{finderfee:reads}:known", 1)
        read_url = pools[1].environment["DATABASE_URL"]
        told = {"DATABASE_READ_URL": read_url, "DATABASE_READ_LAG_S": str(_LAG_S)}
        machine.start("web", modules=_PATIENT, variables=pools[0].environment | told)
        yield made
        machine.kill("web")
        machine.forget_killed_fleets()
    finally:
        for each in pools:
            each.close()
        made.close()


@pytest.fixture
def other(shop: Shop) -> Iterator[Shop]:
    """A second brand, with affiliates of its own."""
    opened = Shop(shop.machine)
    yield opened
    opened.close()


def _ask(shop: Shop, method: str, path: str, body: object = None) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {shop.brand.api_key}", "Content-Type": "application/json"}
    answer = shop.send_once(path, b"" if body is None else json.dumps(body).encode(), headers, method)
    assert answer is not None
    assert answer[0] in (200, 201), answer
    return json.loads(answer[1])


def _emails(shop: Shop) -> set[str]:
    return {row["email"] for row in _ask(shop, "GET", "/api/v1/affiliates?take=200")["items"]}


def _add(shop: Shop, name: str) -> str:
    email = f"{name}@{shop.id.hex}.example"
    _ask(shop, "POST", "/api/v1/affiliates", {"email": email, "name": name, "programId": str(shop.brand.programs[0])})
    return email


def _read(machine: Machine, server: str, why: str) -> int:
    return machine.sum_metric("finderfee_reads_total{", f'server="{server}"', f'why="{why}"')


def _number(shop: Shop, name: str) -> float:
    answer = shop.send_once("/metrics", b"", {}, "GET")
    assert answer is not None
    return next(float(line.split()[1]) for line in answer[1].decode().splitlines() if line.startswith(f"{name} "))


def _until_read_at_the_replica(shop: Shop) -> None:
    before = _read(shop.machine, "replica", "")

    def is_read() -> bool:
        _emails(shop)
        return _read(shop.machine, "replica", "") > before

    shop.machine.wait_until(is_read, "the replica is read")


def _let_stand_still(machine: Machine, replica: Replica) -> None:
    replica.ask("select pg_wal_replay_pause()::text")
    machine.wait_until(
        lambda: replica.ask("select pg_get_wal_replay_pause_state()") == "paused", "the replay is paused"
    )


def test_caller_reads_own_writes_while_the_replica_lags(
    machine: Machine, replica: Replica, shop: Shop, other: Shop
) -> None:
    # given: both are read at the replica
    theirs = _emails(other)
    for one in (shop, other):
        _until_read_at_the_replica(one)

    # when: it stands still, and one of them writes
    _let_stand_still(machine, replica)
    before = _read(machine, "primary", "wrote")
    added = [_add(shop, f"new-{number}") for number in range(3)]

    # then
    for _ in range(5):
        assert set(added) <= _emails(shop)
    assert _read(machine, "primary", "wrote") == before + 5
    before = _read(machine, "replica", "")
    assert _emails(other) == theirs
    assert _read(machine, "replica", "") == before + 1
    assert _number(shop, "finderfee_replica_up") == 1
    assert _number(shop, "finderfee_replica_lag_bytes") > 0

    # when: it goes on
    replica.ask("select pg_wal_replay_resume()::text")

    # then
    _until_read_at_the_replica(shop)
    assert set(added) <= _emails(shop)


def test_dead_replica_fails_no_request_and_leaks_no_rows(
    machine: Machine, replica: Replica, shop: Shop, other: Shop
) -> None:
    # given
    ours, theirs = {_add(shop, "mine")} | _emails(shop), {_add(other, "theirs")} | _emails(other)
    is_over = threading.Event()
    rounds: list[int] = []

    def look() -> None:
        while not is_over.wait(0.02):
            assert _emails(shop) == ours
            assert _emails(other) == theirs
            rounds.append(1)

    _until_read_at_the_replica(shop)

    # when
    with ThreadPoolExecutor(3) as pool:
        looking = [pool.submit(look) for _ in range(3)]
        try:
            machine.wait_until(lambda: len(rounds) > 20, "lists are read")
            replica.kill()
            seen = len(rounds)
            machine.wait_until(lambda: len(rounds) > seen + 20, "lists are read without the replica")
            assert _read(machine, "primary", "away") > 0
            assert _number(shop, "finderfee_replica_up") == 0
            replica.start()
            _until_read_at_the_replica(shop)
        finally:
            is_over.set()

    # then
    for one in looking:
        one.result()
    assert set(shop.statuses) | set(other.statuses) <= {200, 201}


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="PgBouncer is not installed")
def test_replica_reads_work_behind_connection_pools(
    machine: Machine, behind_pools: Replica, shop: Shop, other: Shop
) -> None:
    # given: both are read at the replica, which then stands still
    theirs = _emails(other)
    for one in (shop, other):
        _until_read_at_the_replica(one)
    _let_stand_still(machine, behind_pools)
    wrote, read = _read(machine, "primary", "wrote"), _read(machine, "replica", "")

    # when: both look at once, on connections that lead now to one tenant's rows and now to the other's
    ours = _emails(shop) | {_add(shop, "new")}
    with ThreadPoolExecutor(6) as looking:
        seen = list(looking.map(_emails, [shop, other] * 12))

    # then
    assert seen == [ours, theirs] * 12
    assert _read(machine, "primary", "wrote") == wrote + 12
    assert _read(machine, "replica", "") == read + 13

    # when: it dies and comes back, while the pool before it stays
    behind_pools.kill()
    assert [_emails(one) for one in (shop, other)] == [ours, theirs]
    assert _read(machine, "primary", "away") > 0
    behind_pools.start()

    # then
    _until_read_at_the_replica(other)
    machine.wait_until(lambda: _emails(shop) == ours, "it has what was written")
    assert set(shop.statuses) | set(other.statuses) <= {200, 201}
