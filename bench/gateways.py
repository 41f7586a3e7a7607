"""Gateway events booked per second by one worker process with one relay, compared with the settling of signed sales.

Included: dispatch by the relay, Valkey, the lock on the job row, translation, attribution in its six steps, pricing,
and the durable commit of payment, aliases, conversion, event line, ledger entry, revenue of the day, outbound event and
one delivery row with its job for one subscribed endpoint. Every event is a paid invoice of a separate customer with all
data, so the gateway is never called. Not included: accepting the events; the webhooks queue is not served. The events
alternate between 100 affiliates of a tenant. The first tenant has 10,000 earlier conversions, because PostgreSQL plans
for the existing rows. The events belong to four tenants: the relay dispatches at most a share of jobs per tenant
(`workers.relay`), which would otherwise be the limit instead of the worker. The anchor is `conversions.settlement` in
the first tenant, without customers. Both backlogs exist before their worker starts, which has the Procfile's number of
threads; the time runs from the first commit to the last. A quick run mostly measures the preparing of statements.
"""

from functools import partial
from subprocess import Popen
from typing import Any

from bench.conversions import settlement
from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, fleets, history, stripe
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan

_ROUNDS = 3
_PER_ROUND = 4_000
_PAST = 10_000
_TENANTS = 4


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("gateway_events_booked")
    shops, count = _shops(url), plan.size(_PER_ROUND)
    first = shops[0].brand
    with owner(url) as cursor, plan.machine.running("relay", "flask", "relay") as relay:
        with plan.screen.phase("earlier conversions", total=plan.size(_PAST)) as report:
            history.load(cursor, first, plan.size(_PAST), report)
        product, anchor = measure_alternately(
            partial(_book, plan, cursor, shops, count, relay),
            partial(settlement.settle, plan, cursor, first, count, relay),
            rounds=_ROUNDS,
        )
    return [Figure("gateway_events_booked", product, "events/s", Target(0.7), anchor)]


def _shops(url: str) -> list[stripe.StripeShop]:
    """Create the tenants whose events are booked, each with an endpoint subscribed to all events."""
    sellers = [brand.create(url) for _ in range(_TENANTS)]
    for seller in sellers:
        brand.subscribe(seller, "https://localhost:1/never-called")
    return [stripe.connect_shop(seller) for seller in sellers]


def _book(plan: Plan, cursor: Any, shops: list[stripe.StripeShop], count: int, relay: "Popen[bytes]") -> float:
    """Book a backlog of paid invoices of several tenants; return the events per second."""
    cursor.execute("select clock_timestamp()")
    (before,) = cursor.fetchone()
    for shop in shops:
        shop.take(count // len(shops), prefix=f"{before:%H%M%S%f}")
    history.settle_down(cursor)
    with (
        plan.screen.phase("events to book", total=count) as report,
        plan.machine.running("gateways", *fleets.GATEWAYS) as worker,
    ):
        fleets.wait_until_done(
            cursor, lambda left: report(count - left), lambda: plan.machine.check(worker, relay), queue="gateways"
        )
    cursor.execute(
        "select count(*), extract(epoch from max(e.processed_at) - min(e.processed_at))"
        " from gateway_event e join conversion c on c.organization_id = e.organization_id"
        " and c.id = any(e.conversion_ids) where e.received_at > %s and e.status = 'Processed'",
        (before,),
    )
    booked, seconds = cursor.fetchone()
    if booked != count:
        raise BenchFailed(f"{booked} of {count} events became conversions")
    return (booked - 1) / float(seconds)
