"""The 95th percentile of a signed sale's time while 2,000 clients are idle and 200 drip, beside the same without them.

In: what `sales_accepted` is, one sale after the other over one kept connection, one web worker with 8 threads. The
crowd opens again what the server closes. Both take turns; medians of the percentiles.
"""

import http.client
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.figure import Figure, Target, interleaved
from bench.ground import brand
from bench.ground.fleets import gunicorn
from bench.ground.machine import ROOT, BenchFailed, free_port
from bench.plan import Plan

_IDLE, _DRIPPING, _SALES, _ROUNDS = 2_000, 200, 400, 5


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    seller = brand.create(plan.machine.fresh("slow_clients"))
    port = free_port()
    done = 0

    def p95_ms() -> float:
        nonlocal done
        done += 1
        return _p95_ms(port, seller.sale_requests(plan.size(_SALES), port=port, prefix=f"turn-{done}"))

    def p95_ms_in_a_crowd() -> float:
        with _crowd(port):
            return p95_ms()

    with gunicorn(plan.machine, "web", "app:create_app()", port):
        p95_ms()
        with plan.screen.phase("turns alone and in a crowd", total=1) as report:
            crowded, alone = interleaved(p95_ms_in_a_crowd, p95_ms, rounds=_ROUNDS)
            report(1)
    return [Figure("slow_clients", crowded, "ms p95", Target(2, is_ceiling=True), alone)]


@contextmanager
def _crowd(port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.ground.crowd", str(port), str(_IDLE), str(_DRIPPING)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise BenchFailed("the crowd did not connect")
            yield
        finally:
            process.kill()


def _p95_ms(port: int, requests: list[bytes]) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()
    times = []
    for request in requests:
        started = time.perf_counter()
        connection.sock.sendall(request)
        answer = http.client.HTTPResponse(connection.sock)
        answer.begin()
        if answer.status != 200:
            raise BenchFailed(f"a sale was answered {answer.status}")
        answer.read()
        times.append((time.perf_counter() - started) * 1000)
    connection.close()
    return statistics.quantiles(times, n=20)[-1]
