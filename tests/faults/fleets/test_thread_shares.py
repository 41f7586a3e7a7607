"""The fleet of `make run` serves six queues: slow servers of one queue leave threads for the other queues."""

from uuid import uuid4

import pytest

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_THREADS = 16
# Deliveries to a receiver that does not respond stay open for as long as a test takes.
_LONG_TIMEOUT = {"WEBHOOK_TIMEOUT_S": "60"}
_UNSETTLED = "select from job where queue = 'sales' and organization_id = %s"
_ANNOUNCED = "select from worker_process where queues @> '{webhooks,mail}' and threads = %s"
# A job of each other queue that has nothing to do.
_OTHER_JOBS = (
    ("payouts", "payout.transfer", "payout_id"),
    ("gateways", "gateway.event", "event_id"),
    ("lookups", "platform.lookup", "lookup_id"),
    ("imports", "gateway.reconcile", "connection_id"),
    ("mail", "mail.send", "message_id"),
)


@pytest.mark.parametrize("endpoints", [1, 3])
def test_slow_receivers_do_not_block_other_jobs(machine: Machine, shop: Shop, endpoints: int) -> None:
    # given: the fleet of `make run` with a backlog for receivers that do not respond
    machine.lengthen_leases()
    machine.kill("webhooks", "payouts", "gateways")
    machine.forget_killed_fleets()
    machine.launch("outside", variables=_LONG_TIMEOUT)
    machine.wait_until(lambda: bool(machine.rows(_ANNOUNCED, _THREADS)), "the fleet announces itself")
    slow = [f"/slow-{number}" for number in range(endpoints)]
    for path in slow:
        shop.subscribe(path, events=("conversion.created",))
        shop.gate.shut(path)
    shop.sell_many(24)
    expected = (
        4 if endpoints == 1 else _THREADS // 2 - 1
    )  # one thread of the queue's half is kept for servers without open calls
    machine.wait_until(
        lambda: _count_unanswered(shop, slow) == expected, "the receivers have their share of open calls"
    )

    # when: a quick receiver has a delivery, and every other queue has jobs
    shop.subscribe("/quick", events=("conversion.created",))
    shop.sell()
    machine.wait_until(lambda: shop.gate.max_open["/quick"] > 0, "the quick receiver gets its delivery")
    machine.wait_until(lambda: not machine.rows(_UNSETTLED, shop.id), "every sale is settled")
    for queue, name, argument in _OTHER_JOBS * 3:
        machine.insert_job(shop.id, name, queue=queue, **{argument: str(uuid4())})
    waiting = "select queue from job where organization_id = %s and queue <> 'webhooks' and queue <> 'upkeep'"
    machine.wait_until(lambda: not machine.rows(waiting, shop.id), "the jobs of every other queue are done")

    # then: no slow call has ended, and their queue has at most half of the threads
    requests = [received for received in shop.receiver.received if received.path in slow]
    assert len(requests) == _count_unanswered(shop, slow) == expected
    assert max(shop.gate.max_open[path] for path in slow) <= _THREADS // 4
    shop.gate.open()
    machine.kill("outside")
    machine.start("webhooks", "payouts", "gateways")
    machine.end_leases(shop.id)
    outcome.check(machine, shop)


def _count_unanswered(shop: Shop, paths: list[str]) -> int:
    return sum(shop.gate.open_requests[path] for path in paths)
