"""Clicks accepted per second by one gunicorn worker with 8 threads, compared with a constant Flask route.

Included: HTTP, validation, the link from the process's cache, the detection of robots and prefetches, hashes of address
and network, the call to Valkey that counts the rate limit (so high that nothing is refused) and appends the click, sent
by the server's event loop (decision 58), metrics, the log line.
The anchor (`anchors.constant`) runs under the same gunicorn.conf.py.
Not included: no process reads the stream. Clicks alternate between 100 links of one campaign and 200 browsers.
The load generator keeps 16 connections busy and shares the two cores with the measured processes.
"""

from contextlib import ExitStack

import orjson

from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port
from bench.plan import Plan

_ROUNDS = 5
_CLICKS_PER_ROUND = 10_000
_WARM_UP = 500
_BROWSERS = 200


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    brand.create(plan.machine.create_database("clicks_accepted"))
    product_port, anchor_port = free_port(), free_port()
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", product_port))
        running.enter_context(gunicorn(plan.machine, "anchor", "bench.anchors.constant:create_app()", anchor_port))
        return [_figure(plan, product_port, anchor_port)]


def _figure(plan: Plan, product_port: int, anchor_port: int) -> Figure:
    size = plan.size(_CLICKS_PER_ROUND)
    for port in (product_port, anchor_port):
        load.measure_rate(load.Order(port, requests(_WARM_UP, port)))
    with plan.screen.phase("rounds of clicks, product and anchor", total=2 * _ROUNDS) as report:
        done = 0

        def run_round(port: int) -> float:
            nonlocal done
            rate = load.measure_rate(load.Order(port, requests(size, port)))
            done += 1
            report(done)
            return rate

        product, anchor = measure_alternately(
            lambda: run_round(product_port), lambda: run_round(anchor_port), rounds=_ROUNDS
        )
    return Figure("clicks_accepted", product, "clicks/s", Target(0.85), anchor)


def requests(count: int, port: int) -> list[bytes]:
    """Return clicks as a browser's beacon sends them, as raw HTTP requests."""
    return [_request(number, port) for number in range(count)]


def _request(number: int, port: int) -> bytes:
    slug = f"partner-{number % brand.AFFILIATES}"
    body = orjson.dumps(
        {
            "slug": slug,
            "url": f"https://shop.example.com/landing?utm_source=mail&via={slug}",
            "referrer": "https://news.example.com/",
            "subId": "mail",
        }
    )
    head = (
        f"POST /api/v1/track/click HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: text/plain;charset=UTF-8\r\n"
        f"Origin: https://shop.example.com\r\nAccept-Language: de-CH,de;q=0.9,en;q=0.8\r\n"
        f"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:{number % _BROWSERS}.0) Gecko/20100101 Firefox/140.0\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
