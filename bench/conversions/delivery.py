"""From a signed sale to its delivered webhook: the cost, the number per second, and the duration of each part.

Included: everything between: one web process of 8 threads, one relay, one sales worker of 8 threads, one webhooks
worker of 16, PostgreSQL and Valkey; HTTPS to a receiver that responds at once. Not included: scheduler, load generator,
receiver. First the idle cost of all processes. Then all sales at once, as fast as they are accepted, to measure the
capacity of this machine: sales over the time from the first byte sent to the last delivery recorded. Then at an even
pace, at a tenth and at four fifths of the capacity. The cost is the kernel's CPU time of each kind of process with all
its children, divided by the number of sales; at a tenth it includes the CPU time of processes that wait for work. Times
run from when a sale was due to be sent: to its response, to the commit of its conversion, and to the commit that
records the delivery. PostgreSQL records the commit time before it flushes, so others see it one flush later than
measured. The tenant has 10,000 earlier conversions; sales alternate between 100 affiliates and name no customer.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from subprocess import Popen
from typing import Any

from bench import webhooks
from bench.figure import Figure, Target
from bench.ground import brand, fleets, history, load, pacing
from bench.ground.disk import DiskUse
from bench.ground.machine import BenchFailed, free_port, owner
from bench.ground.pacing import Meter
from bench.plan import Plan

_AT_ONCE = 3_000
_PAST = 10_000
_WARM_UP = 200
_IDLE_S = 20
_MAX_VISIBLE_MS = 50
_MAX_COST_MS = 6

# Only delivered events have a body.
_COMMITTED = """
with delivered as materialized (
  select e.body::jsonb #>> '{data,externalEventId}' as sale, pg_xact_commit_timestamp(d.xmin) as at
  from delivery d join event e on e.organization_id = d.organization_id and e.id = d.event_id
  where d.organization_id = %(org)s and d.status = 'Delivered' and d.event_type = 'conversion.created'
)
select delivered.sale, extract(epoch from pg_xact_commit_timestamp(c.xmin)), extract(epoch from delivered.at)
from delivered join conversion c on c.organization_id = %(org)s and c.external_event_id = delivered.sale
where delivered.sale like %(sales)s
"""


@dataclass(frozen=True, slots=True)
class _Setup:
    """The running processes, and the brand that sells."""

    plan: Plan
    seller: brand.Brand
    port: int
    cursor: Any
    meter: Meter
    running: Sequence["Popen[Any]"]
    sold: list[int] = field(default_factory=lambda: [0])

    def requests(self, count: int, *, prefix: str) -> list[bytes]:
        """Return new signed sales with consecutive numbers."""
        self.sold[0] += count
        return self.seller.sale_requests(count, port=self.port, prefix=f"{prefix}-{self.sold[0]}")

    def wait(self, count: int) -> None:
        """Wait until all sales are settled and delivered."""
        with self.plan.screen.phase("sales to settle and deliver", total=count) as report:
            for queue in ("sales", "webhooks"):
                fleets.wait_until_done(
                    self.cursor,
                    lambda left: report(count - left),
                    lambda: self.plan.machine.check(*self.running),
                    queue=queue,
                )

    def commit_times(self, prefix: str, count: int) -> dict[str, tuple[float, float]]:
        """Return the commit times of conversion and delivery by sale. Raises BenchFailed."""
        self.cursor.execute(_COMMITTED, {"org": self.seller.id, "sales": f"{prefix}-%"})
        times = {sale: (float(settled), float(delivered)) for sale, settled, delivered in self.cursor.fetchall()}
        if len(times) != count:
            raise BenchFailed(f"{len(times)} of {count} sales were delivered")
        return times


def measure(plan: Plan) -> list[Figure]:
    """Measure and return capacity, costs and times."""
    url = plan.machine.create_database("sales_delivered")
    seller = brand.create(url)
    port = free_port()
    with ExitStack() as running, owner(url) as cursor:
        receiver = running.enter_context(webhooks.receiving(plan.machine))
        brand.subscribe(seller, f"https://localhost:{receiver}/hook")
        started: dict[str, Popen[Any]] = {
            "web": running.enter_context(fleets.gunicorn(plan.machine, "web", "app:create_app()", port)),
            "relay": running.enter_context(plan.machine.running("relay", "flask", "relay")),
            "sales": running.enter_context(plan.machine.running("sales", *fleets.SALES)),
            "webhooks": running.enter_context(plan.machine.running("webhooks", *webhooks.WORKER)),
        }
        with plan.screen.phase("earlier conversions", total=plan.size(_PAST)) as report:
            history.load(cursor, seller, plan.size(_PAST), report)
        setup = _Setup(plan, seller, port, cursor, Meter(plan.machine, started), list(started.values()))
        load.measure_rate(load.Order(port, setup.requests(_WARM_UP, prefix="warm")))
        setup.wait(_WARM_UP)
        history.settle_down(cursor)
        figures = [_measure_idle(setup)]
        at_once, per_second = _measure_at_once(setup)
        figures += at_once
        for name, share in pacing.LOADS.items():
            figures += _measure_paced(setup, name, share * per_second)
        return figures


def _measure_idle(setup: _Setup) -> Figure:
    seconds = setup.plan.size(_IDLE_S)
    setup.meter.begin()
    with setup.plan.screen.phase("idle seconds", total=seconds) as report:
        for second in range(seconds):
            time.sleep(1)
            report(second + 1)
    cost = setup.meter.cost("idle_cost", None, units=seconds)
    return replace(cost, unit="CPU ms/s")


def _measure_at_once(setup: _Setup) -> tuple[list[Figure], float]:
    count = setup.plan.size(_AT_ONCE)
    requests = setup.requests(count, prefix="once")
    stored = DiskUse(setup.cursor)
    setup.meter.begin()
    result = load.run_order(load.Order(setup.port, requests))
    setup.wait(count)
    cost = setup.meter.cost("sale_cost", Target(_MAX_COST_MS, is_ceiling=True, is_on_value=True), units=count)
    last = max(delivered for _, delivered in setup.commit_times("once", count).values())
    per_second = count / (last - result.began[0])
    capacity = Figure("sales_delivered", per_second, "sales/s", None, others=cost.others)
    return [capacity, cost, stored.per("sale_stored", units=count)], per_second


def _measure_paced(setup: _Setup, name: str, per_second: float) -> list[Figure]:
    history.settle_down(setup.cursor)
    setup.meter.begin()
    ids: list[str] = []
    make = partial(_make_requests, setup, name, ids)
    timings = pacing.send(setup.plan, f"sales at {name}", port=setup.port, make=make, per_second=per_second)
    setup.wait(len(ids))
    cost = setup.meter.cost(f"sale_cost_{name}", None, units=len(ids))
    others = setup.meter.others_share()
    committed = setup.commit_times(name, len(ids))
    visible, delivered = (
        [(committed[sale][place] - began) * 1000 for sale, began in zip(ids, timings.began, strict=True)]
        for place in (0, 1)
    )
    max_ms = _MAX_VISIBLE_MS if name == "tenth" else None
    return [
        cost,
        *pacing.figures(f"sale_accepted_{name}", timings.took_ms, others=others),
        *pacing.figures(f"sale_visible_{name}", visible, max_ms=max_ms, others=others),
        *pacing.figures(f"sale_delivered_{name}", delivered, others=others),
    ]


def _make_requests(setup: _Setup, prefix: str, ids: list[str], count: int) -> list[bytes]:
    """Return new requests, and add the ids of their sales to `ids`."""
    requests = setup.requests(count, prefix=prefix)
    ids += [f"{prefix}-{setup.sold[0]}-{number}" for number in range(count)]
    return requests
