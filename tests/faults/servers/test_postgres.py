"""The database crashes: requests get 503, and all processes recover without a restart."""

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def test_postgresql_crash_under_load_returns_503_and_recovers(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe()
    processes_before = dict(machine.processes)

    # when
    with shop.sell_continuously(threads=6):
        shop.wait_until_sold(20)
        machine.restart_postgres()
        shop.wait_until_sold(20)

    # then
    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422, 503}
    assert machine.processes == processes_before
    assert [name for name, process in processes_before.items() if process.has_ended] == []


def test_postgresql_crash_between_requests_fails_no_request(machine: Machine, shop: Shop) -> None:
    # given: every thread of the web server has a connection with prepared statements
    for _ in range(5):
        shop.sell_many(24)
    machine.wait_until_settled()
    shop.statuses.clear()

    # when
    machine.restart_postgres()
    shop.sell_many(24)

    # then
    assert dict(shop.statuses) == {200: 24}
    outcome.check(machine, shop)
