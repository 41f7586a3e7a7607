"""From a click to its row: its cost, and the response time at a tenth and at four fifths of capacity.

Included: one web process of 8 threads, one click writer, PostgreSQL and Valkey; requests as in `clicks_accepted`.
Not included: the load generator. First all clicks at once, to measure how many a second this machine accepts while it
also writes them; then at an even pace. Times run from when a click was due to be sent to its response. The cost is the
kernel's CPU time of each kind of process with all its children, divided by the number of clicks, until all are written.
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
            timings = pacing.send(plan, f"clicks at {name}", port=port, make=make, per_second=share * per_second)
            figures += pacing.figures(f"click_{name}", timings.took_ms, others=meter.others_share())
            _wait(plan, started["clicks"])
        return figures


def _wait(plan: Plan, writer: "Popen[Any]") -> None:
    """Wait until every click is written."""
    client = redis.Redis.from_url(plan.machine.env["REDIS_URL"])
    plan.machine.wait_for("the stream to empty", lambda: not client.xlen(KEY), writer)
