"""Events of a gateway accepted per second by one gunicorn worker with 8 threads, beside a bare Flask route.

In: HTTP, the connection by its address (remembered as in production), the signature over the raw bytes, the rate limit
in Valkey (so high that nothing is refused), the event and its job, a durable commit, metrics, the log line, the
wake-up. The anchor is the signed sale's (`anchors.web`) with one insert more, of the event's raw bytes.
Out: relay and workers are not running, so nothing is translated or booked.
The load generator keeps 16 connections busy and shares the two cores with what it measures.
"""

from contextlib import ExitStack

from bench.anchors import web
from bench.figure import Figure, Target, interleaved
from bench.ground import brand, load, stripe
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.plan import Plan

_ROUNDS = 5
_EVENTS_PER_ROUND = 4_000
_WARM_UP = 200


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("gateway_events_accepted")
    with owner(url) as cursor:
        cursor.execute(web.TABLES)
    shop = stripe.connected(brand.create(url))
    product_port, anchor_port = free_port(), free_port()
    named = {"ORGANIZATION_ID": str(shop.brand.id), "CONNECTION_ID": str(shop.connection.id)}
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", product_port))
        running.enter_context(gunicorn(plan.machine, "anchor", "bench.anchors.web:create_app()", anchor_port, **named))
        return [_figure(plan, shop, product_port, anchor_port)]


def _figure(plan: Plan, shop: stripe.StripeShop, product_port: int, anchor_port: int) -> Figure:
    size, turns = plan.size(_EVENTS_PER_ROUND), 2 * _ROUNDS
    done = 0

    def rate(port: int, count: int) -> float:
        nonlocal done
        done += 1
        return load.fire(load.Order(port, shop.requests(count, port=port, prefix=f"turn-{done}")))

    for port in (product_port, anchor_port):
        rate(port, _WARM_UP)
    with plan.screen.phase("turns of events, product and anchor", total=turns) as report:

        def turn(port: int) -> float:
            measured = rate(port, size)
            report(done - 2)
            return measured

        product, anchor = interleaved(lambda: turn(product_port), lambda: turn(anchor_port), rounds=_ROUNDS)
    return Figure("gateway_events_accepted", product, "events/s", Target(0.6), anchor)
