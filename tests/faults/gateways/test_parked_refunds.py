"""A refund that is parked until its sale arrives is replayed while the sale wakes it up: there is no deadlock."""

from tests.support.installation import outcome
from tests.support.installation.backing_servers import LONG_LEASE
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_FAILED = ("finderfee_job_attempts_total", 'outcome="failed"')


def test_parked_refund_replayed_during_wake_up_counts_once(machine: Machine, shop: GatewayShop) -> None:
    machine.stop("gateways")
    machine.start("gateways", variables=LONG_LEASE)

    # given: a parked refund, and its sale in the middle of being booked, which holds the locks of both
    shop.subscribe()
    sale = shop.pay()
    shop.deliver(sale.notifications[0], *shop.refund(sale, 4_000))
    machine.wait_until(lambda: shop.events("status") == [("Processed",), ("Parked",)], "the refund is parked")
    ((event_id,),) = shop.events("id::text")[1:]
    failed_before = machine.sum_metric(*_FAILED)
    with machine.hold_locks("lock table gateway_alias in share mode"):
        shop.deliver(sale.notifications[1])
        machine.wait_for_table_lock("gateway_alias")

        # when: the job that replays the refund has begun as well
        status, _ = shop.call_api("POST", f"/api/v1/connections/{shop.connection['id']}/events/{event_id}/replay")
        machine.wait_for_lock_waiters(2)

    # then
    assert status == 202
    outcome.check(machine, shop)
    assert machine.sum_metric(*_FAILED) == failed_before
    assert shop.events("status") == [("Processed",)] * 3
