"""The broker forgets, goes away, comes back empty or is full: sales are accepted all the while and nothing is lost."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from adapters.embedded import data_folder
from tests.support.installation import outcome, servers
from tests.support.installation.machine import Machine
from tests.support.installation.proxy import Action, Proxy
from tests.support.installation.shop import Shop

# Long enough for the web, the relay and the workers to notice in all their ways.
_AWAY_S = 6.0


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
        with _without_valkey(machine, wiped=False):
            _wait(machine, _AWAY_S)
            shop.wait_until_sold(5)

    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422}


def test_sales_are_accepted_while_valkey_dies_and_comes_back_empty(machine: Machine, shop: Shop) -> None:
    shop.subscribe()

    with shop.sell_continuously():
        shop.wait_until_sold(10)
        with _without_valkey(machine, wiped=True):
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
        lambda: machine.read_output("relay").count("maxmemory") > 1, "the relay is refused again and again"
    )

    # then
    waiting = "select count(*) from job where organization_id = %s and deadline is null and max_attempts - attempt = 20"
    machine.wait_until(lambda: machine.rows(waiting, shop.id) == [(20,)], "every job waits with every attempt left")
    assert set(shop.statuses) == {200}
    machine.valkey().config_set("maxmemory", 0)
    machine.note("Valkey has room")
    outcome.check(machine, shop)


class _Losing:
    """Loses three of the things said to or by the broker that hold all of some words."""

    def __init__(self, *words: bytes, fate: Action) -> None:
        self.lost = 0
        self._words, self._fate = words, fate

    def __call__(self, said: bytes) -> Action:
        if self.lost == 3 or not all(word in said for word in self._words):
            return Action.FORWARD
        self.lost += 1
        return self._fate


@pytest.mark.parametrize(
    ("way", "words", "fate"),
    [
        ("answered", (b'"queue_name":"sales"',), Action.DISCONNECT),
        ("answered", (b'"queue_name":"sales"',), Action.DROP),
        ("asked", (b"\r\nack\r\n", b"\r\nsales\r\n"), Action.DROP),
    ],
    ids=["what was fetched is cut off", "what was fetched is lost", "what was acknowledged is lost"],
)
def test_lost_broker_messages_strand_no_job(
    machine: Machine, shop: Shop, way: str, words: tuple[bytes, ...], fate: Action
) -> None:
    # given: a fleet that loses some words with the broker, with leases that are far off
    losing = _Losing(*words, fate=fate)
    long_lease = {"JOB_LEASE_S": "3600"}
    machine.kill("relay", "workers")
    with closing(Proxy(data_folder.resolve(machine.home).valkey_socket, **{way: losing})) as proxy:
        machine.start("relay", variables=long_lease)
        machine.start("workers", variables=long_lease | {"REDIS_URL": proxy.url(machine.urls.redis_url)})

        # when
        for _ in range(3):
            shop.sell_many(8)

        # then: with the process alive that lost them
        outcome.check(machine, shop)
        assert losing.lost == 3
        machine.wait_until(lambda: not _list_message_keys(machine), "nothing stays in the broker")
        machine.kill("workers")


def _list_message_keys(machine: Machine) -> list[bytes]:
    return [key for place in ("*.msgs", "__acks__.*") for key in machine.valkey().scan_iter(f"finderfee:{place}")]


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
def _without_valkey(machine: Machine, *, wiped: bool) -> Iterator[None]:
    machine.note("Valkey is killed and wiped" if wiped else "Valkey stops with what it has")
    if wiped:
        servers.kill_valkey(machine.home)
        servers.wipe_valkey(machine.home)
    else:
        servers.stop_valkey(machine.home, save=True)
    yield
    machine.start_valkey()


def _wait(machine: Machine, seconds: float) -> None:
    begun = machine.rows("select clock_timestamp()")[0][0]
    elapsed = "select clock_timestamp() > %s + make_interval(secs => %s)"
    machine.wait_until(lambda: machine.rows(elapsed, begun, seconds)[0][0], f"{seconds} s pass")
