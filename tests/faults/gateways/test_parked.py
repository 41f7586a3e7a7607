"""A refund that waits for its sale is played again while its sale wakes it: neither waits for the other for ever."""

from tests.support.installation import outcome
from tests.support.installation.backing_servers import LONG_LEASE
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_FAILED = ("finderfee_job_attempts_total", 'outcome="failed"')


def test_parked_refund_replayed_during_wake_up_counts_once(machine: Machine, till: GatewayShop) -> None:
    machine.stop("gateways")
    machine.start("gateways", variables=LONG_LEASE)

    # given: a refund that waits, and what wakes it in the middle of being booked, holding the locks of both
    till.subscribe()
    sale = till.pay()
    till.deliver(sale.notifications[0], *till.refund(sale, 4_000))
    machine.wait_until(lambda: till.events("status") == [("Processed",), ("Parked",)], "the refund waits")
    ((event_id,),) = till.events("id::text")[1:]
    failed = machine.sum_metric(*_FAILED)
    with machine.hold_locks("lock table gateway_alias in share mode"):
        till.deliver(sale.notifications[1])
        machine.wait_for_table_lock("gateway_alias")

        # when: the job that plays it again has begun as well
        status, _ = till.call_api("POST", f"/api/v1/connections/{till.connection['id']}/events/{event_id}/replay")
        machine.wait_for_lock_waiters(2)

    # then
    assert status == 202
    outcome.check(machine, till)
    assert machine.sum_metric(*_FAILED) == failed
    assert till.events("status") == [("Processed",)] * 3
