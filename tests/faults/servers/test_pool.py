"""Behind a PgBouncer in transaction mode everything works as without one."""

from collections.abc import Iterator

import pytest

from tests.support.installation import outcome, pgbouncer
from tests.support.installation.machine import Machine
from tests.support.installation.pgbouncer import PgBouncer
from tests.support.installation.shop import Shop

pytestmark = pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="PgBouncer is not installed")

# Far fewer than the processes have threads, so that many threads share each connection.
_CONNECTIONS = 4


@pytest.fixture
def bouncer(machine: Machine) -> Iterator[PgBouncer]:
    """Restart every process behind a PgBouncer."""
    bouncer = PgBouncer(machine.home, machine.urls.database_url, size=_CONNECTIONS)
    names = list(machine.processes)
    machine.kill(*names)
    machine.forget_killed_fleets()
    try:
        machine.start(*names, variables=bouncer.environment)
        yield bouncer
        machine.kill(*names)
        machine.forget_killed_fleets()
    finally:
        bouncer.close()


def test_effects_happen_once_behind_a_connection_pool(machine: Machine, shop: Shop, bouncer: PgBouncer) -> None:
    # given
    shop.subscribe()
    other_shop = Shop(machine)
    other_shop.subscribe()

    # when: two tenants share the same connections
    with shop.sell_continuously(threads=4), other_shop.sell_continuously(threads=4):
        shop.wait_until_sold(100)
        other_shop.wait_until_sold(100)
    for order in list(shop.sold)[:5]:
        shop.refund(order)

    # then
    outcome.check(machine, shop)
    outcome.check(machine, other_shop)
    other_shop.close()
    connections = (
        "select count(*) from pg_stat_activity where usename = 'finderfee_login' and backend_type = 'client backend'"
    )
    assert machine.rows(connections)[0][0] <= _CONNECTIONS


def test_pool_crash_under_load_loses_nothing(machine: Machine, shop: Shop, bouncer: PgBouncer) -> None:
    # given
    shop.subscribe()

    # when
    with shop.sell_continuously(threads=6):
        shop.wait_until_sold(20)
        bouncer.crash()
        shop.wait_until_sold(20)

    # then
    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422, 503}
