"""Requests, messages and ticks are repeated, by several processes at once: each takes effect once."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from models import db
from models.jobs import rows
from pipelines.schedule import SCHEDULE
from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop


def test_sale_posted_30_times_with_two_relays_is_one_conversion(machine: Machine, shop: Shop) -> None:
    # given
    machine.kill("workers", "webhooks")
    machine.start("relay-2")
    # Nothing is dispatched again only because the machine is slow.
    machine.lengthen_leases()
    triple_delivery = ["tests.support.installation.triple_delivery"]
    machine.start("workers-triple", "webhooks-triple", modules=triple_delivery, variables={"WEBHOOK_TIMEOUT_S": "60"})
    shop.subscribe()

    # when
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(lambda _: shop.sell("order-again"), range(30)))
    shop.sell_many(20)
    shop.refund("order-again", 4_000)

    # then
    outcome.check(machine, shop)
    assert dict(shop.statuses) == {200: 51}
    requests_by_delivery = Counter(received.headers["x-service-delivery-id"] for received in shop.receiver.received)
    assert set(requests_by_delivery.values()) == {1}
    conversion_id = shop.sold["order-again"]
    rows_of_sale = (
        "select source, commission_cents, reversed_cents from conversion where %s in (id, parent_id) order by 1"
    )
    assert machine.rows(rows_of_sale, conversion_id) == [("override", 200, 80), ("s2s", 2_000, 800)]
    events = (
        "select e.type, count(*) from event e join conversion c on e.body::jsonb #>> '{data,conversionId}' = c.id::text"
        " where %s in (c.id, c.parent_id) group by 1 order by 1"
    )
    assert machine.rows(events, conversion_id) == [("conversion.created", 2), ("conversion.refunded", 2)]


def test_racing_relays_stay_within_one_endpoints_share(machine: Machine, shop: Shop) -> None:
    # given: twenty deliveries for one endpoint, and no relay except the two that this test simulates
    machine.kill("relay", "webhooks")
    machine.forget_killed_fleets()
    machine.execute("insert into worker_process (id, queues, threads) values (gen_random_uuid(), '{webhooks}', 8)")
    for number in range(20):
        machine.insert_job(shop.id, "webhook.deliver", queue="webhooks", delivery_id=str(number))

    # when: the second dispatches before the first has committed
    with machine.use_models(), ThreadPoolExecutor(1) as pool:
        with db.any_org_work():
            first = _dispatch()
            dispatching = pool.submit(_in_own_transaction, _dispatch)
            machine.wait_until(
                lambda: dispatching.done() or machine.count_lock_waiters() >= 1,
                "the second waits for a lock or has ended",
            )
        second = dispatching.result()

    # then
    assert (len(first), len(second)) == (4, 0)


def test_racing_schedulers_fire_a_tick_once(machine: Machine) -> None:
    # given: both schedulers have seen that the tick is due, and neither has fired it
    machine.kill("scheduler")
    machine.execute("delete from tick")
    machine.execute("insert into queue_pause (queue) values ('upkeep'), ('payouts')")
    machine.execute("delete from job")
    with machine.hold_locks("lock table tick in exclusive mode"):
        machine.start("scheduler", "scheduler-2")
        machine.wait_for_lock_waiters(2, about="insert into tick")

    # when: both go on
    machine.wait_until(lambda: len(machine.rows("select distinct name from tick")) == len(SCHEDULE), "every tick fires")
    machine.stop("scheduler", "scheduler-2")

    # then: one job per tick; another tick may have become due meanwhile
    ticks = dict(machine.rows("select name, count(distinct scheduled_for) from tick group by 1"))
    assert set(ticks) == {entry.job.name for entry in SCHEDULE}
    assert dict(machine.rows("select name, count(*) from job group by 1")) == ticks


def _dispatch() -> list[rows.Pointer]:
    return rows.any_org_dispatch(queue="webhooks", per_thread=4, share=4, lease_s=3600)


def _in_own_transaction(dispatch: Callable[[], list[rows.Pointer]]) -> list[rows.Pointer]:
    try:
        with db.any_org_work():
            return dispatch()
    finally:
        db.db.drop_connection()
