"""Sales settled per second by one worker process of 8 threads with one relay, compared with a no-op Dramatiq actor.

Included: dispatch by the relay, Valkey, the lock on the job row, pricing, and the durable commit of conversion, event
line, ledger entry, revenue of the day, outbound event and one delivery row with its job for one subscribed endpoint.
Not included: the webhooks queue is not served; sales name no customer, the campaign has no tiers, no affiliate was
recruited. Sales alternate between 100 affiliates. The tenant has 10,000 earlier conversions, because PostgreSQL plans
for the existing rows. The backlog exists before the worker starts; the time runs from the first `settled_at` in the
database to the last. The anchor (`anchors.noop`) has the same number of threads on the same Valkey, and messages that
were enqueued before. It counts in its own process, so it only pays for the queue.
"""

from functools import partial
from subprocess import Popen
from typing import Any

from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, fleets, history
from bench.ground.machine import owner
from bench.plan import Plan

_ROUNDS = 3
_SALES_PER_ROUND = 4_000
_PAST = 10_000
_NOOPS_PER_SALE = 2


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("sales_settled")
    seller = brand.create(url)
    brand.subscribe(seller, "https://localhost:1/never-called")
    sales = plan.size(_SALES_PER_ROUND)
    with owner(url) as cursor, plan.machine.running("relay", "flask", "relay") as relay:
        with plan.screen.phase("earlier conversions", total=plan.size(_PAST)) as report:
            history.load(cursor, seller, plan.size(_PAST), report)
        product, anchor = measure_alternately(
            partial(settle, plan, cursor, seller, sales, relay),
            partial(fleets.measure_noops, plan.machine, sales * _NOOPS_PER_SALE),
            rounds=_ROUNDS,
        )
    return [Figure("sales_settled", product, "sales/s", Target(0.8), anchor)]


def settle(plan: Plan, cursor: Any, seller: brand.Brand, sales: int, relay: "Popen[bytes]") -> float:
    """Settle a backlog of sales with one worker; return the sales per second."""
    cursor.execute("select clock_timestamp()")
    (before,) = cursor.fetchone()
    brand.accept_with_jobs(cursor, seller, sales, prefix=f"{before:%H%M%S.%f}")
    history.settle_down(cursor)
    with (
        plan.screen.phase("sales to settle", total=sales) as report,
        plan.machine.running("sales", *fleets.SALES) as worker,
    ):
        fleets.wait_until_done(cursor, lambda left: report(sales - left), lambda: plan.machine.check(worker, relay))
    cursor.execute(
        "select count(*), extract(epoch from max(settled_at) - min(settled_at)) from sale where settled_at > %s",
        (before,),
    )
    settled, seconds = cursor.fetchone()
    return (settled - 1) / float(seconds)
