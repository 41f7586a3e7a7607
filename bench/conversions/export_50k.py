"""How much longer the CSV export of 50,000 conversions takes than PostgreSQL's own COPY of the same columns.

In: the whole answer of the route, in this process: API key, rate limit, audit entry, every piece in a transaction
of its own under row-level security, cells made safe. The anchor is `copy (select …) to stdout`, as the owner of the
tables. Both take turns; medians. A note tells how much memory Python held at most for 5,000 rows and for 50,000.
Out: the network.
"""

import io
import time
import tracemalloc
from typing import Any

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, conversion_rows, history
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan

_ROWS, _ROUNDS = 50_000, 5
_COPY = """
copy (select id, affiliate_id, program_id, amount_cents, currency, commission_cents - reversed_cents, status, type,
  external_event_id, created_at, refunded_at, attribution_method, coupon_code, sub_id from conversion
  order by created_at desc, id desc limit 50000) to stdout with (format csv)
"""
_LEAVE = "delete from conversion where substr(external_event_id, 6)::int > %s"


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    from app import create_app

    url = plan.machine.fresh("export_50k")
    seller = brand.create(url)
    rows = plan.size(_ROWS)
    with owner(url) as cursor:
        with plan.screen.phase("conversions to load", total=rows) as report:
            conversion_rows.load(cursor, seller, rows, report)
        history.settle_down(cursor)
        app = create_app()
        _export_ms(app, seller, rows)
        value, anchor = interleaved(lambda: _export_ms(app, seller, rows), lambda: _copy_ms(cursor), rounds=_ROUNDS)
        all_of_it = _peak_kib(app, seller, rows)
        cursor.execute(_LEAVE, (rows // 10,))
        a_tenth = _peak_kib(app, seller, rows // 10)
    plan.screen.notes.append(f"export_50k: at most {a_tenth} KiB for {rows // 10} rows, {all_of_it} KiB for {rows}")
    return [Figure("export_50k", value, "ms", Target(4, is_ceiling=True), anchor)]


def _export_ms(app: Any, seller: brand.Brand, rows: int) -> float:
    started = time.perf_counter()
    _export(app, seller, rows)
    return (time.perf_counter() - started) * 1000


def _export(app: Any, seller: brand.Brand, rows: int) -> None:
    headers = {"Authorization": f"Bearer {seller.api_key}"}
    answer = app.test_client().get("/api/v1/conversions/export.csv", headers=headers)
    lines = sum(piece.count(b"\r\n") for piece in answer.iter_encoded())
    if lines != rows + 1:
        raise BenchFailed(f"the file has {lines} lines")


def _peak_kib(app: Any, seller: brand.Brand, rows: int) -> int:
    tracemalloc.start()
    _export(app, seller, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak // 1024


def _copy_ms(cursor: Any) -> float:
    started = time.perf_counter()
    cursor.copy_expert(_COPY, io.StringIO())
    return (time.perf_counter() - started) * 1000
