"""How much longer a payout run over 1,000,000 conversions takes than one INSERT … SELECT of as many plain lines.

10,000 affiliates, five currencies, everything due and ready, nothing subscribed. The tables as `payroll` loads them.
In: `pipelines.payouts.run.make` in a unit of work, in a process of its own: the turn, the claim, the plan, a payout per
affiliate, a line per conversion with its four indexes and the look-up of what it names, an event and a job per payout,
the durable commit. The anchor writes lines into a table with the same columns, checks and indexes, as the owner of the
tables, and commits. Both take turns, the least of each counts. Value and anchor are times; their ratio is the figure.
Out: the preview that finds the total, HTTP and the audit entry. The ledger is booked when a payout is paid.
The second figure is by how many MB the run's process grew at its peak from a tenth of the rows to all of them.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.figure import Figure, Target
from bench.ground import payroll
from bench.ground.brand import Brand
from bench.ground.machine import BenchFailed, output_of, owner
from bench.plan import Plan
from domain.payouts.confirmation import RunRequest
from models import db
from pipelines.payouts import run

_CONVERSIONS, _ROUNDS = 1_000_000, 2
_MOST_MB = 5
_KB_PER_MB = 1024

_ANCHOR_TABLE = "create table plain_line (like payout_line including all)"
_ANCHOR = """
insert into plain_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
    fx_rate_date, amount_cents)
  select uuidv7(), organization_id, affiliate_id, id, commission_cents, currency, 1, current_date, commission_cents
  from conversion where organization_id = %s
"""
_UNDO = "truncate payout_run, payout, payout_line, payout_attempt, event, delivery, job, plain_line cascade"


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the two figures."""
    url = plan.machine.fresh("payout_run")
    conversions = plan.size(_CONVERSIONS)
    with owner(url) as cursor:
        seller, payees = payroll.create(url, cursor, affiliates=plan.size(payroll.AFFILIATES))
        cursor.execute(_ANCHOR_TABLE)
        few = partial(_run, plan, cursor, seller, conversions // 10)
        everything = partial(_run, plan, cursor, seller, conversions)
        payroll.load(cursor, seller, payees, conversions // 10, plan.screen)
        small = few()
        payroll.load(cursor, seller, payees, conversions, plan.screen, already=conversions // 10)
        runs, anchors = [], []
        for _ in range(_ROUNDS):
            runs.append(everything())
            anchors.append(_timed(cursor, lambda: cursor.execute(_ANCHOR, (seller.id,))))
    grown = max(run["peak_kb"] for run in runs) - small["peak_kb"]
    plan.screen.note(f"payout_run: at most {small['peak_kb'] // _KB_PER_MB} MB for {conversions // 10:,} conversions")
    return [
        Figure("payout_run", min(run["seconds"] for run in runs), "s", Target(2, is_ceiling=True), min(anchors)),
        Figure("payout_run_memory", grown / _KB_PER_MB, "MB", Target(_MOST_MB, is_ceiling=True, is_on_value=True)),
    ]


def _run(plan: Plan, cursor: Any, seller: Brand, conversions: int) -> dict[str, Any]:
    cursor.execute("select sum(commission_cents)::bigint from conversion where organization_id = %s", (seller.id,))
    (total,) = cursor.fetchone()
    told = output_of("bench.payouts.run", str(seller.id), str(total), given=b"", env=plan.machine.env)
    cursor.execute("select count(*) from payout_line")
    if cursor.fetchone() != (conversions,):
        raise BenchFailed("not every conversion was paid")
    _settle(cursor)
    found: dict[str, Any] = json.loads(told)
    return found


def _timed(cursor: Any, work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    _settle(cursor)
    return seconds


def _settle(cursor: Any) -> None:
    cursor.execute(_UNDO)
    cursor.execute("checkpoint")


def _main(organization_id: UUID, total_cents: int) -> None:
    """Run once and print how long it took and how much memory this process held at most."""
    db.connect_to(os.environ["DATABASE_URL"])
    request = RunRequest(confirm_total_cents=total_cents)
    started = time.perf_counter()
    with db.unit_of_work(organization_id):
        run.make(organization_id=organization_id, request=request, now=datetime.now(UTC))
    seconds = time.perf_counter() - started
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert peak is not None
    print(json.dumps({"seconds": seconds, "peak_kb": int(peak[1])}))


if __name__ == "__main__":
    _main(UUID(sys.argv[1]), int(sys.argv[2]))
