"""From a click to its row: what it costs, and how long its sender waits at a tenth and at four fifths of capacity.

In: one web process of 8 threads, one writer of clicks, PostgreSQL and Valkey; requests as in `clicks_accepted`.
Out: the load generator. First all clicks at once, which tells how many a second this machine takes while it writes
them, too; then at an even pace. Times run from when a click was due to be sent to its answer. The cost is CPU time by
the kernel's count, of each kind of process with all its children, over the number of clicks, until all are written.
"""

from contextlib import ExitStack
from functools import partial
from subprocess import Popen
from typing import Any

import redis

from adapters.clicks.stream import KEY
from bench.clicks import acceptance
from bench.figure import Figure
from bench.ground import brand, history, load, pacing
from bench.ground.disk import DiskUse
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.ground.pacing import Meter
from bench.plan import Plan

_AT_ONCE = 10_000
_WARM_UP = 500


def measure(plan: Plan) -> list[Figure]:
    """Measure and return costs and times."""
    url = plan.machine.create_database("clicks_timed")
    brand.create(url)
    port = free_port()
    with ExitStack() as running, owner(url) as cursor:
        started = {
            "web": running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", port)),
            "clicks": running.enter_context(plan.machine.running("clicks", "flask", "clicks")),
        }
        meter = Meter(plan.machine, started)
        load.measure_rate(load.Order(port, acceptance.requests(_WARM_UP, port)))
        _wait(plan, started["clicks"])
        history.settle_down(cursor)
        count = plan.size(_AT_ONCE)
        stored = DiskUse(cursor)
        meter.begin()
        per_second = load.measure_rate(load.Order(port, acceptance.requests(count, port)))
        _wait(plan, started["clicks"])
        figures = [meter.cost("click_cost", None, units=count), stored.per("click_stored", units=count)]
        make = partial(acceptance.requests, port=port)
        for name, share in pacing.LOADS.items():
            meter.begin()
            answered = pacing.send(plan, f"clicks at {name}", port=port, make=make, per_second=share * per_second)
            figures += pacing.figures(f"click_{name}", answered.took_ms, others=meter.others_share())
            _wait(plan, started["clicks"])
        return figures


def _wait(plan: Plan, writer: "Popen[Any]") -> None:
    """Wait until every click is written."""
    client = redis.Redis.from_url(plan.machine.env["REDIS_URL"])
    plan.machine.wait_for("the stream to empty", lambda: not client.xlen(KEY), writer)
