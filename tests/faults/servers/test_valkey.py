"""Valkey loses data, stops, starts empty or is full: sales are accepted all the time and nothing is lost."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from adapters.embedded import data_folder
from tests.support.installation import outcome, servers
from tests.support.installation.machine import Machine
from tests.support.installation.proxy import Action, Proxy
from tests.support.installation.shop import Shop

# Long enough for the web server, the relay and the workers to notice it in all their loops.
_OUTAGE_S = 6.0


def test_flushall_under_load_loses_nothing(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously():
        for _ in range(3):
            shop.wait_until_sold(10)
            machine.valkey().flushall()
            machine.note("FLUSHALL")

    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422}


def test_sales_are_accepted_while_valkey_is_stopped_and_settle_when_it_is_back(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously(threads=1):
        shop.wait_until_sold(5)
        with _stop_valkey(machine, is_wiped=False):
            _wait_s(machine, _OUTAGE_S)
            shop.wait_until_sold(5)

    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422}


def test_sales_are_accepted_while_valkey_dies_and_comes_back_empty(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously():
        shop.wait_until_sold(10)
        with _stop_valkey(machine, is_wiped=True):
            shop.wait_until_sold(10)

    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422}


def test_sales_are_accepted_while_valkey_is_full_and_wait_without_using_attempts(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe()
    machine.valkey().config_set("maxmemory", 1)
    machine.note("Valkey is full")

    # when
    shop.sell_many(20)
    machine.wait_until(
        lambda: machine.read_output("relay").count("maxmemory") > 1, "the relay is refused more than once"
    )

    # then
    waiting = "select count(*) from job where organization_id = %s and deadline is null and max_attempts - attempt = 20"
    machine.wait_until(lambda: machine.rows(waiting, shop.id) == [(20,)], "every job waits with every attempt left")
    assert set(shop.statuses) == {200}
    machine.valkey().config_set("maxmemory", 0)
    machine.note("Valkey has memory again")
    outcome.check(machine, shop)


class _LosingProxy:
    """Drops, or disconnects at, the first three requests or replies that contain all of some words."""

    def __init__(self, *words: bytes, action: Action) -> None:
        self.lost = 0
        self._words, self._action = words, action

    def __call__(self, read: bytes) -> Action:
        if self.lost == 3 or not all(word in read for word in self._words):
            return Action.FORWARD
        self.lost += 1
        return self._action


@pytest.mark.parametrize(
    ("direction", "words", "action"),
    [
        ("on_reply", (b'"queue_name":"sales"',), Action.DISCONNECT),
        ("on_reply", (b'"queue_name":"sales"',), Action.DROP),
        ("on_request", (b"\r\nack\r\n", b"\r\nsales\r\n"), Action.DROP),
    ],
    ids=["connection closed during a fetch", "fetched messages dropped", "acknowledgements dropped"],
)
def test_lost_broker_messages_strand_no_job(
    machine: Machine, shop: Shop, direction: str, words: tuple[bytes, ...], action: Action
) -> None:
    # given: a fleet that loses messages to or from the broker, with long leases
    losing = _LosingProxy(*words, action=action)
    long_lease = {"JOB_LEASE_S": "3600"}
    machine.kill("relay", "workers")
    with closing(Proxy(data_folder.resolve(machine.home).valkey_socket, **{direction: losing})) as proxy:
        machine.start("relay", variables=long_lease)
        machine.start("workers", variables=long_lease | {"REDIS_URL": proxy.url(machine.urls.redis_url)})

        # when
        for _ in range(3):
            shop.sell_many(8)

        # then: while the process that lost them is alive
        outcome.check(machine, shop)
        assert losing.lost == 3
        machine.wait_until(lambda: not _list_message_keys(machine), "the broker has no messages left")
        machine.kill("workers")


def _list_message_keys(machine: Machine) -> list[bytes]:
    return [key for pattern in ("*.msgs", "__acks__.*") for key in machine.valkey().scan_iter(f"finderfee:{pattern}")]


def test_web_relay_and_workers_start_without_valkey(machine: Machine, shop: Shop) -> None:
    # given
    machine.kill("web", "relay", "workers")
    machine.note("Valkey stops")
    servers.stop_valkey(machine.home, save=True)

    # when
    machine.start("web", "relay", "workers")
    shop.sell()

    # then
    assert set(shop.statuses) == {200}
    machine.start_valkey()
    outcome.check(machine, shop)


@contextmanager
def _stop_valkey(machine: Machine, *, is_wiped: bool) -> Iterator[None]:
    machine.note("Valkey is killed and wiped" if is_wiped else "Valkey stops and keeps its data")
    if is_wiped:
        servers.kill_valkey(machine.home)
        servers.wipe_valkey(machine.home)
    else:
        servers.stop_valkey(machine.home, save=True)
    yield
    machine.start_valkey()


def _wait_s(machine: Machine, seconds: float) -> None:
    started_at = machine.rows("select clock_timestamp()")[0][0]
    elapsed = "select clock_timestamp() > %s + make_interval(secs => %s)"
    machine.wait_until(lambda: machine.rows(elapsed, started_at, seconds)[0][0], f"{seconds} s pass")
