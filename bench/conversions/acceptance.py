"""Signed sales accepted per second by one gunicorn worker with 8 threads, beside a bare Flask route.

In: HTTP, API key (cached as in production), HMAC, rate limit in Valkey (so high that nothing is refused), plan and
gateway checks, validation, lookup and deduplication, the sale and job rows, a durable commit, metrics, the log line,
the wake-up. The anchor (`anchors.web`) runs under the same gunicorn.conf.py in the same PostgreSQL.
Out: relay and workers are not running, so nothing is settled. Sales name no customer; 100 affiliates take turns.
The load generator keeps 16 connections busy and shares the two cores with what it measures.
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
    """Measure and return the one figure."""
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
    size, turns = plan.size(_SALES_PER_ROUND), 2 * _ROUNDS
    done = 0

    def rate(port: int, count: int) -> float:
        nonlocal done
        done += 1
        return load.measure_rate(load.Order(port, seller.sale_requests(count, port=port, prefix=f"turn-{done}")))

    for port in (product_port, anchor_port):
        rate(port, _WARM_UP)
    with plan.screen.phase("turns of sales, product and anchor", total=turns) as report:

        def turn(port: int) -> float:
            measured = rate(port, size)
            report(done - 2)
            return measured

        product, anchor = measure_alternately(lambda: turn(product_port), lambda: turn(anchor_port), rounds=_ROUNDS)
    return Figure("sales_accepted", product, "sales/s", Target(0.8), anchor)
