"""A worker freezes in the middle of a transaction, alive to everybody who looks: others have its work by its lease."""

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

# What PostgreSQL does by itself at the end of a lease.
_END_FROZEN = """
select pg_terminate_backend(pid, 60000) from pg_stat_activity
where application_name = 'finderfee' and state = 'idle in transaction' and state_change < %s
"""


def test_transaction_of_a_frozen_worker_is_redone_after_its_lease(machine: Machine, shop: Shop) -> None:
    # given: a sale in the hands of a fleet, whose transaction waits for a lock; another fleet sleeps so far
    shop.subscribe()
    machine.start("workers-2")
    machine.pause("workers-2")
    with machine.hold_locks(f"select from affiliate where id = '{shop.rita}' for update"):
        order = shop.sell()
        machine.wait_for_lock_waiters(1)

        # when: it freezes and gets its lock
        machine.pause("workers")
        machine.resume("workers-2")

    # then: it would hold its lock until it wakes
    machine.wait_until(lambda: _has_override(machine, shop, order), "the override is written")
    machine.resume("workers")
    outcome.check(machine, shop)


@pytest.mark.parametrize("froze_at", [b"update sale set settled_at", b"delete from job"])
def test_worker_frozen_while_preparing_statements_blocks_no_sale(machine: Machine, shop: Shop, froze_at: bytes) -> None:
    # given: a fleet whose connections are new, and which freezes before it learns that a statement is prepared
    machine.lengthen_leases()
    machine.kill("workers")
    machine.start("workers-2")
    machine.pause("workers-2")
    with _freezing(machine, "workers", at=b" as " + froze_at) as freezing:
        machine.start("workers", variables=LONG_LEASE | {"DATABASE_URL": freezing.url(machine.urls.database_url)})

        # when
        shop.sell()
        machine.wait_until(
            lambda: machine.processes["workers"].is_paused, "it freezes with the first sale of the affiliate"
        )
        machine.resume("workers-2")
        ((others_since,),) = machine.rows("select clock_timestamp()")
        others = [shop.sell() for _ in range(3)]

        # then: nobody waits for it, for its lease does not end
        settled = "select count(*) from conversion where organization_id = %s and parent_id is null"
        machine.wait_until(lambda: machine.rows(settled, shop.id)[0][0] >= len(others), "the others settle")

        # and what it has is done when its lease is over
        machine.execute(_END_FROZEN, others_since)
        machine.end_leases(shop.id, skip_locked=True)
        outcome.check(machine, shop)


@contextmanager
def _freezing(machine: Machine, name: str, *, at: bytes) -> Iterator[Proxy]:
    is_asked = threading.Event()

    def asked(read: bytes) -> Action:
        if at in read:
            is_asked.set()
        return Action.FORWARD

    def answered(read: bytes) -> Action:
        # By now the server says of the transaction that it is idle, and since when.
        if is_asked.is_set() and b"PREPARE" in read and not machine.processes[name].is_paused:
            machine.pause(name)
        return Action.FORWARD

    proxy = Proxy(data_folder.resolve(machine.home).postgres_socket, on_request=asked, on_reply=answered)
    try:
        yield proxy
    finally:
        machine.kill(name)
        machine.start(name)
        proxy.close()


def _has_override(machine: Machine, shop: Shop, order: str) -> bool:
    return bool(machine.rows("select from conversion where parent_id = %s", shop.sold[order]))
