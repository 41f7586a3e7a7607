"""The duration of an agent's tool call compared with the same request to the operation behind it.

One gunicorn worker serves both, over one keep-alive connection: `list_affiliates` by POST /mcp and GET
/api/v1/affiliates, 20 rows of 10,000 with their links. Included: HTTP, the key, the rate limit, the page; for the tool
also parsing the message, the arguments, the inner request, leaving out nulls, and the result as object and as text.
Not included: confirmations and lists that are too long. Value and anchor are times; their ratio is the figure.
"""

import json

from bench import affiliates
from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import free_port, owner
from bench.plan import Plan

_ROUNDS, _CALLS_PER_ROUND, _WARM_UP, _ROWS = 7, 1_000, 100, 20


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("tool_call")
    seller = brand.create(url)
    with owner(url) as cursor:
        affiliates.load_affiliates(plan, cursor, seller)
    port = free_port()
    with gunicorn(plan.machine, "web", "app:create_app()", port):
        call, request = _call(seller, port), _request(seller, port)
        for raw in (call, request):
            _mean_ms(port, raw, _WARM_UP)
        size = plan.size(_CALLS_PER_ROUND)
        value, anchor = measure_alternately(
            lambda: _mean_ms(port, call, size), lambda: _mean_ms(port, request, size), rounds=_ROUNDS
        )
    return [Figure("tool_call", value, "ms", Target(1.3, is_ceiling=True), anchor)]


def _mean_ms(port: int, request: bytes, count: int) -> float:
    return 1000 / load.measure_rate(load.Order(port, [request] * count, connections=1))


def _call(seller: brand.Brand, port: int) -> bytes:
    params = {"name": "list_affiliates", "arguments": {"take": _ROWS}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return _raw_request(
        "POST /mcp", seller, port, f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n", body
    )


def _request(seller: brand.Brand, port: int) -> bytes:
    return _raw_request(f"GET /api/v1/affiliates?take={_ROWS}", seller, port)


def _raw_request(line: str, seller: brand.Brand, port: int, headers: str = "", body: str = "") -> bytes:
    return (
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {seller.api_key}\r\n{headers}\r\n{body}"
    ).encode()
