"""From a signed sale to its delivered webhook: what it costs, how many a second, and how long each part takes.

In: everything between: one web process of 8 threads, one relay, one sales worker of 8 threads, one webhooks worker of
16, PostgreSQL and Valkey; HTTPS to a receiver that answers at once. Out: scheduler, load generator, receiver.
First, what all of it uses while there is nothing to do. Then all sales at once, as fast as they are taken, which tells
the capacity of this machine: sales over the time from the first byte sent to the last delivery recorded. Then at an
even pace, at a tenth and at four fifths of it.
The cost is CPU time by the kernel's count, of each kind of process with all its children, over the number of sales; at
a tenth what processes use while they wait for work has its share in it.
Times run from when a sale was due to be sent: to its answer, to the commit of its conversion, and to the commit that
records the delivery. PostgreSQL notes a commit before it flushes it, so others see it one flush later than measured.
The tenant has a past of 10,000 conversions; 100 affiliates take turns; sales name no customer.
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
_VISIBLE_MOST_MS = 50
_COST_MOST_MS = 6

# Only delivered events have a body.
_COMMITTED = """
with told as materialized (
  select e.body::jsonb #>> '{data,externalEventId}' as sale, pg_xact_commit_timestamp(d.xmin) as at
  from delivery d join event e on e.organization_id = d.organization_id and e.id = d.event_id
  where d.organization_id = %(org)s and d.status = 'Delivered' and d.event_type = 'conversion.created'
)
select told.sale, extract(epoch from pg_xact_commit_timestamp(c.xmin)), extract(epoch from told.at)
from told join conversion c on c.organization_id = %(org)s and c.external_event_id = told.sale
where told.sale like %(sales)s
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
        """Wait until nothing is left to settle or to deliver."""
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
        with plan.screen.phase("conversions of the past", total=plan.size(_PAST)) as report:
            history.load(cursor, seller, plan.size(_PAST), report)
        walk = _Setup(plan, seller, port, cursor, Meter(plan.machine, started), list(started.values()))
        load.measure_rate(load.Order(port, walk.requests(_WARM_UP, prefix="warm")))
        walk.wait(_WARM_UP)
        history.settle_down(cursor)
        figures = [_measure_idle(walk)]
        at_once, per_second = _measure_at_once(walk)
        figures += at_once
        for name, share in pacing.LOADS.items():
            figures += _measure_paced(walk, name, share * per_second)
        return figures


def _measure_idle(walk: _Setup) -> Figure:
    seconds = walk.plan.size(_IDLE_S)
    walk.meter.begin()
    with walk.plan.screen.phase("seconds of idleness", total=seconds) as report:
        for passed in range(seconds):
            time.sleep(1)
            report(passed + 1)
    cost = walk.meter.cost("idle_cost", None, units=seconds)
    return replace(cost, unit="CPU ms/s")


def _measure_at_once(walk: _Setup) -> tuple[list[Figure], float]:
    count = walk.plan.size(_AT_ONCE)
    requests = walk.requests(count, prefix="once")
    stored = DiskUse(walk.cursor)
    walk.meter.begin()
    result = load.run_order(load.Order(walk.port, requests))
    walk.wait(count)
    cost = walk.meter.cost("sale_cost", Target(_COST_MOST_MS, is_ceiling=True, is_on_value=True), units=count)
    last = max(delivered for _, delivered in walk.commit_times("once", count).values())
    per_second = count / (last - result.began[0])
    capacity = Figure("sales_delivered", per_second, "sales/s", None, others=cost.others)
    return [capacity, cost, stored.per("sale_stored", units=count)], per_second


def _measure_paced(walk: _Setup, name: str, per_second: float) -> list[Figure]:
    history.settle_down(walk.cursor)
    walk.meter.begin()
    ids: list[str] = []
    make = partial(_make_requests, walk, name, ids)
    answered = pacing.send(walk.plan, f"sales at {name}", port=walk.port, make=make, per_second=per_second)
    walk.wait(len(ids))
    cost = walk.meter.cost(f"sale_cost_{name}", None, units=len(ids))
    others = walk.meter.others_share()
    committed = walk.commit_times(name, len(ids))
    visible, delivered = (
        [(committed[sale][place] - began) * 1000 for sale, began in zip(ids, answered.began, strict=True)]
        for place in (0, 1)
    )
    most = _VISIBLE_MOST_MS if name == "tenth" else None
    return [
        cost,
        *pacing.figures(f"sale_accepted_{name}", answered.took_ms, others=others),
        *pacing.figures(f"sale_visible_{name}", visible, most_ms=most, others=others),
        *pacing.figures(f"sale_delivered_{name}", delivered, others=others),
    ]


def _make_requests(walk: _Setup, prefix: str, ids: list[str], count: int) -> list[bytes]:
    """Return new requests, and add the ids of their sales to `ids`."""
    requests = walk.requests(count, prefix=prefix)
    ids += [f"{prefix}-{walk.sold[0]}-{number}" for number in range(count)]
    return requests
