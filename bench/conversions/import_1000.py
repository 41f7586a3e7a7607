"""How much longer an import of 1,000 conversions takes than one multi-row INSERT of the same conversions.

In: HTTP, API key, the body read and checked row by row, affiliates and known rows looked up, and in one transaction
the conversions with history, ledger entries, revenue and customers, the job and the audit entry. Every row is new and
has a customer of its own. The anchor inserts a thousand rows of the same columns into the same table from this process,
as the same role under row-level security, and commits. Both take turns; medians of times.
Out: a queue of callers, other work. One gunicorn worker, one connection.
"""

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from typing import Any

import orjson

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history, load
from bench.ground.fleets import gunicorn
from bench.ground.machine import BenchFailed, free_port, owner
from bench.plan import Plan
from models import db, ids

_ROUNDS, _ROWS, _WARM_UP = 9, 1_000, 3
_NO_LIMIT = {"RATE_LIMITS_PER_MIN": "import=1000000"}
_NUMBERS = count()
_COLUMNS = (
    "organization_id, program_id, source, attribution_method, rate_source, is_test, created_at, hold_until, id,"
    " affiliate_id, external_event_id, amount_cents, currency, commission_cents, status, type, payout_locked,"
    " customer_email, customer_name, processor_customer_id, processor_subscription_id, occurred_at"
)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("import_1000")
    seller = brand.create(url)
    with owner(url) as cursor:
        history.settle_down(cursor)
    port = free_port()
    with ExitStack() as running:
        running.enter_context(gunicorn(plan.machine, "web", "app:create_app()", port, **_NO_LIMIT))
        for _ in range(_WARM_UP):
            _imported(seller, port), _inserted(seller)
        value, anchor = interleaved(lambda: _imported(seller, port), lambda: _inserted(seller), rounds=_ROUNDS)
    _check(seller)
    return [Figure("import_1000", value, "ms", Target(6, is_ceiling=True), anchor)]


def _check(seller: brand.Brand) -> None:
    with db.unit_of_work(seller.id):
        partial = db.db.run("select reasons from import_job where organization_id = %s and skipped > 0", (seller.id,))
    if partial:
        raise BenchFailed(f"imports that left rows out: {partial}")


def _imported(seller: brand.Brand, port: int) -> float:
    return 1000 / load.fire(load.Order(port, [_request(seller, port)], connections=1))


def _request(seller: brand.Brand, port: int) -> bytes:
    batch = next(_NUMBERS)
    rows = [_row(batch, number) for number in range(_ROWS)]
    body = orjson.dumps({"programId": seller.program_id, "conversions": rows, "confirmUnpaidPayout": True})
    head = (
        f"POST /api/v1/conversions/import HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {seller.api_key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _row(batch: int, number: int) -> dict[str, Any]:
    return {
        "affiliateSlug": f"partner-{number % brand.AFFILIATES}",
        "customerEmail": f"buyer-{number}@example.com",
        "customerName": f"Buyer {number}",
        "amountCents": 10_000 + number,
        "commissionCents": 2_000,
        "currency": "USD",
        "occurredAt": f"2024-{1 + number % 12:02}-15T10:00:00Z",
        "processorCustomerId": f"customer-{batch}-{number}",
        "processorSubscriptionId": f"subscription-{batch}-{number}",
        "externalId": f"order-{batch}-{number}",
    }


def _inserted(seller: brand.Brand) -> float:
    batch, now = next(_NUMBERS), datetime.now(UTC)
    rows = [_values(seller, batch, number, now) for number in range(_ROWS)]
    marks = f"({', '.join(['%s'] * len(rows[0]))})"
    started = time.perf_counter()
    with db.unit_of_work(seller.id):
        flat = [value for row in rows for value in row]
        db.db.stage(f"insert into conversion ({_COLUMNS}) values {', '.join([marks] * _ROWS)}", flat)
    return (time.perf_counter() - started) * 1000


def _values(seller: brand.Brand, batch: int, number: int, now: datetime) -> tuple[object, ...]:
    row = _row(batch, number)
    occurred_at = datetime.fromisoformat(row["occurredAt"])
    return (
        *(seller.id, seller.program_id, "import", "historical_import:api", "import", False, now, occurred_at),
        *(ids.new_id(), seller.affiliate_ids[number % brand.AFFILIATES], row["externalId"], row["amountCents"], "USD"),
        *(2_000, "Approved", "OneTime", False, row["customerEmail"], row["customerName"]),
        *(row["processorCustomerId"], row["processorSubscriptionId"], occurred_at),
    )
