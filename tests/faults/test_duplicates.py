"""Everything is said several times, by several: it happens once."""

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
    # Nothing is said again because a slow machine took its time.
    machine.lengthen_leases()
    echo = ["tests.support.installation.triple_delivery"]
    machine.start("workers-echo", "webhooks-echo", modules=echo, variables={"WEBHOOK_TIMEOUT_S": "60"})
    shop.subscribe()

    # when
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(lambda _: shop.sell("order-again"), range(30)))
    shop.sell_many(20)
    shop.refund("order-again", 4_000)

    # then
    outcome.check(machine, shop)
    assert dict(shop.statuses) == {200: 51}
    sent = Counter(received.headers["x-service-delivery-id"] for received in shop.receiver.received)
    assert set(sent.values()) == {1}
    conversion_id = shop.sold["order-again"]
    family = "select source, commission_cents, reversed_cents from conversion where %s in (id, parent_id) order by 1"
    assert machine.rows(family, conversion_id) == [("override", 200, 80), ("s2s", 2_000, 800)]
    told = (
        "select e.type, count(*) from event e join conversion c on e.body::jsonb #>> '{data,conversionId}' = c.id::text"
        " where %s in (c.id, c.parent_id) group by 1 order by 1"
    )
    assert machine.rows(told, conversion_id) == [("conversion.created", 2), ("conversion.refunded", 2)]


def test_racing_relays_stay_within_one_endpoints_share(machine: Machine, shop: Shop) -> None:
    # given: twenty deliveries for one endpoint, and no relay but the two of this test
    machine.kill("relay", "webhooks")
    machine.forget_killed_fleets()
    machine.execute("insert into worker_process (id, queues, threads) values (gen_random_uuid(), '{webhooks}', 8)")
    for number in range(20):
        machine.insert_job(shop.id, "webhook.deliver", queue="webhooks", delivery_id=str(number))

    # when: the second asks while the first has not committed yet
    with machine.use_models(), ThreadPoolExecutor(1) as pool:
        with db.any_org_work():
            first = _hand_out()
            asking = pool.submit(_in_own_transaction, _hand_out)
            machine.wait_until(
                lambda: asking.done() or machine.count_lock_waiters() >= 1, "the second waits or has its answer"
            )
        second = asking.result()

    # then
    assert (len(first), len(second)) == (4, 0)


def test_racing_schedulers_fire_a_tick_once(machine: Machine) -> None:
    # given: both have seen that the tick is due, and neither has fired it
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

    # then: a job for each, and while they were at it the clock may have come to another
    ticks = dict(machine.rows("select name, count(distinct scheduled_for) from tick group by 1"))
    assert set(ticks) == {entry.job.name for entry in SCHEDULE}
    assert dict(machine.rows("select name, count(*) from job group by 1")) == ticks


def _hand_out() -> list[rows.Pointer]:
    return rows.any_org_dispatch(queue="webhooks", per_thread=4, share=4, lease_s=3600)


def _in_own_transaction(ask: Callable[[], list[rows.Pointer]]) -> list[rows.Pointer]:
    try:
        with db.any_org_work():
            return ask()
    finally:
        db.db.drop_connection()
