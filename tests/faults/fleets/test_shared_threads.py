"""The fleet of `make run` serves six queues with its threads: slow servers of one kind leave some to every other."""

from uuid import uuid4

import pytest

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_THREADS = 16
# A receiver that does not answer has its deliveries in its hands for as long as a test takes.
_LONG_CALL = {"WEBHOOK_TIMEOUT_S": "60"}
_UNSETTLED = "select from job where queue = 'sales' and organization_id = %s"
_IS_THERE = "select from worker_process where queues @> '{webhooks,mail}' and threads = %s"
# A job of each other queue that finds nothing to do.
_OTHERS = (
    ("payouts", "payout.transfer", "payout_id"),
    ("gateways", "gateway.event", "event_id"),
    ("lookups", "platform.lookup", "lookup_id"),
    ("imports", "gateway.reconcile", "connection_id"),
    ("mail", "mail.send", "message_id"),
)


@pytest.mark.parametrize("endpoints", [1, 3])
def test_slow_receivers_do_not_block_other_jobs(machine: Machine, shop: Shop, endpoints: int) -> None:
    # given: the fleet of `make run` with a backlog for receivers that do not answer
    machine.lengthen_leases()
    machine.kill("webhooks", "payouts", "gateways")
    machine.forget_killed_fleets()
    machine.launch("outside", variables=_LONG_CALL)
    machine.wait_until(lambda: bool(machine.rows(_IS_THERE, _THREADS)), "the fleet announces itself")
    slow = [f"/slow-{number}" for number in range(endpoints)]
    for path in slow:
        shop.subscribe(path, events=("conversion.created",))
        shop.gate.shut(path)
    shop.sell_many(24)
    expected = 4 if endpoints == 1 else _THREADS // 2 - 1  # the last thread of a kind is for a server that holds none
    machine.wait_until(lambda: _count_unanswered(shop, slow) == expected, "the receivers hold their share")

    # when: a quick receiver is to be notified and every other kind has work
    shop.subscribe("/quick", events=("conversion.created",))
    shop.sell()
    machine.wait_until(lambda: shop.gate.max_open["/quick"] > 0, "the quick receiver is notified")
    machine.wait_until(lambda: not machine.rows(_UNSETTLED, shop.id), "every sale is settled")
    for queue, name, argument in _OTHERS * 3:
        machine.insert_job(shop.id, name, queue=queue, **{argument: str(uuid4())})
    waiting = "select queue from job where organization_id = %s and queue <> 'webhooks' and queue <> 'upkeep'"
    machine.wait_until(lambda: not machine.rows(waiting, shop.id), "every other kind is done")

    # then: no slow call has ended, and none of their queue took more than half of the threads
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
