"""A worker freezes in the middle of a transaction: other workers do its jobs when its lease ends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.embedded import data_folder
from tests.support.installation import outcome
from tests.support.installation.backing_servers import LONG_LEASE
from tests.support.installation.machine import Machine
from tests.support.installation.proxy import Action, Proxy
from tests.support.installation.shop import Shop

# What the idle timeout of PostgreSQL does at the end of a lease.
_END_IDLE_TRANSACTIONS = """
select pg_terminate_backend(pid, 60000) from pg_stat_activity
where application_name = 'finderfee' and state = 'idle in transaction' and state_change < %s
"""


def test_transaction_of_a_frozen_worker_is_redone_after_its_lease(machine: Machine, shop: Shop) -> None:
    # given: a fleet with a sale whose transaction waits for a lock; another fleet is paused
    shop.subscribe()
    machine.start("workers-2")
    machine.pause("workers-2")
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        order = shop.sell()
        machine.wait_for_lock_waiters(1)

        # when: the fleet is frozen, and gets its lock
        machine.pause("workers")
        machine.resume("workers-2")

    # then: its lock does not block the other fleet until it is resumed
    machine.wait_until(lambda: _has_override(machine, shop, order), "the override is written")
    machine.resume("workers")
    outcome.check(machine, shop)


@pytest.mark.parametrize("statement", [b"update sale set settled_at", b"delete from job"])
def test_worker_frozen_while_preparing_statements_blocks_no_sale(
    machine: Machine, shop: Shop, statement: bytes
) -> None:
    # given: a fleet with new connections that freezes before it reads the reply that a statement is prepared
    machine.lengthen_leases()
    machine.kill("workers")
    machine.start("workers-2")
    machine.pause("workers-2")
    with _freeze_before_prepare_reply(machine, "workers", statement=b" as " + statement) as proxy:
        machine.start("workers", variables=LONG_LEASE | {"DATABASE_URL": proxy.url(machine.urls.database_url)})

        # when
        shop.sell()
        machine.wait_until(
            lambda: machine.processes["workers"].is_paused, "the fleet freezes with the first sale of the affiliate"
        )
        machine.resume("workers-2")
        ((others_sold_at,),) = machine.rows("select clock_timestamp()")
        others = [shop.sell() for _ in range(3)]

        # then: no sale waits for it, although its lease does not end
        settled = "select count(*) from conversion where organization_id = %s and parent_id is null"
        machine.wait_until(lambda: machine.rows(settled, shop.id)[0][0] >= len(others), "the other sales are settled")

        # and its own job is done when its lease ends
        machine.execute(_END_IDLE_TRANSACTIONS, others_sold_at)
        machine.end_leases(shop.id, skip_locked=True)
        outcome.check(machine, shop)


@contextmanager
def _freeze_before_prepare_reply(machine: Machine, name: str, *, statement: bytes) -> Iterator[Proxy]:
    is_requested = threading.Event()

    def watch_request(read: bytes) -> Action:
        if statement in read:
            is_requested.set()
        return Action.FORWARD

    def freeze_at_reply(read: bytes) -> Action:
        # By now the server shows the transaction as idle, with the time since when.
        if is_requested.is_set() and b"PREPARE" in read and not machine.processes[name].is_paused:
            machine.pause(name)
        return Action.FORWARD

    proxy = Proxy(data_folder.resolve(machine.home).postgres_socket, on_request=watch_request, on_reply=freeze_at_reply)
    try:
        yield proxy
    finally:
        machine.kill(name)
        machine.start(name)
        proxy.close()


def _has_override(machine: Machine, shop: Shop, order: str) -> bool:
    return bool(machine.rows("select from conversion where parent_id = %s", shop.sold[order]))
