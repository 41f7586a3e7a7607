"""Signed sales accepted per second by one gunicorn worker with 8 threads, compared with a bare Flask route.

Included: HTTP, API key (cached as in production), HMAC, rate limit in Valkey (so high that nothing is refused), plan
and gateway checks, validation, lookup and deduplication, the sale and job rows, a durable commit, metrics, the log
line, the wake-up. The anchor (`anchors.web`) runs under the same gunicorn.conf.py on the same PostgreSQL. Not included:
relay and workers are not running, so nothing is settled. Sales name no customer; they alternate between 100 affiliates.
The load generator keeps 16 connections busy and shares the two cores with the measured processes.
"""

from contextlib import ExitStack

from bench.anchors import web
from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.plan import Plan

_ROUNDS = 5
_SALES_PER_ROUND = 4_000
_WARM_UP = 200


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("sales_accepted")
    with owner(url) as cursor:
        cursor.execute(web.TABLES)
    seller = brand.create(url)
    product_port, anchor_port = free_port(), free_port()
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", product_port))
        running.enter_context(
            gunicorn(
                plan.machine,
                "anchor",
                "bench.anchors.web:create_app()",
                anchor_port,
                ORGANIZATION_ID=str(seller.id),
            )
        )
        return [_figure(plan, seller, product_port, anchor_port)]


def _figure(plan: Plan, seller: brand.Brand, product_port: int, anchor_port: int) -> Figure:
    size = plan.size(_SALES_PER_ROUND)
    done = 0

    def rate(port: int, count: int) -> float:
        nonlocal done
        done += 1
        return load.measure_rate(load.Order(port, seller.sale_requests(count, port=port, prefix=f"round-{done}")))

    for port in (product_port, anchor_port):
        rate(port, _WARM_UP)
    with plan.screen.phase("rounds of sales, product and anchor", total=2 * _ROUNDS) as report:

        def run_round(port: int) -> float:
            result = rate(port, size)
            report(done - 2)
            return result

        product, anchor = measure_alternately(
            lambda: run_round(product_port), lambda: run_round(anchor_port), rounds=_ROUNDS
        )
    return Figure("sales_accepted", product, "sales/s", Target(0.8), anchor)
