"""Resident megabytes of each process after 50,000 sales were accepted and settled through them. Lower is better.

In: VmRSS of the gunicorn master and its one worker (8 threads), the relay, the scheduler, and
`python -m workers -Q sales -p 1 -t 8`. RSS counts pages that a fork shares with its parent for both; PSS, which splits
them, stands under the table where the kernel tells.
The tenant has a past of 10,000 conversions, because PostgreSQL plans for what is there.
Out: PostgreSQL, Valkey, the load generator. Nobody subscribes, so no deliveries are made; sales name no customer.
"""

import re
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

from bench.figure import Figure, Target
from bench.ground import brand, fleets, history, load
from bench.ground.machine import children, free_port, owner
from bench.plan import Plan

_SALES = 50_000
_PAST = 10_000
# Signatures are good for five minutes, and a batch is signed at once.
_BATCH = 2_500
_MOST_MB = 80
_KB_PER_MB = 1024


def measure(plan: Plan) -> list[Figure]:
    """Measure and return one figure per process."""
    url = plan.machine.fresh("memory")
    seller = brand.create(url)
    port = free_port()
    with ExitStack() as running, owner(url) as cursor:
        web = running.enter_context(fleets.gunicorn(plan.machine, "web", "app:create_app()", port))
        relay = running.enter_context(plan.machine.running("relay", "flask", "relay"))
        scheduler = running.enter_context(plan.machine.running("scheduler", "flask", "scheduler"))
        fleet = running.enter_context(plan.machine.running("sales", *fleets.SALES))
        with plan.screen.phase("conversions of the past", total=plan.size(_PAST)) as report:
            history.load(cursor, seller, plan.size(_PAST), report)
        history.settle_down(cursor)
        first_web_worker = _worker(web)
        _sell(plan, seller, port)
        with plan.screen.phase("sales to settle", total=plan.size(_SALES)) as report:
            fleets.wait_until_done(
                cursor,
                lambda left: report(plan.size(_SALES) - left),
                lambda: plan.machine.check(web, relay, scheduler, fleet),
            )
        if _worker(web) != first_web_worker:
            plan.screen.note("memory: gunicorn replaced its worker during the run (max_requests)")
        processes = {
            "web_master": web.pid,
            "web_worker": _worker(web),
            "relay": relay.pid,
            "scheduler": scheduler.pid,
            "worker": fleet.pid,
        }
        return [_figure(plan, name, pid) for name, pid in processes.items()]


def _sell(plan: Plan, seller: brand.Brand, port: int) -> None:
    sales = plan.size(_SALES)
    with plan.screen.phase("sales to accept", total=sales) as report:
        for sold in range(0, sales, _BATCH):
            batch = seller.sale_requests(min(_BATCH, sales - sold), port=port, prefix=f"batch-{sold}")
            load.fire(load.Order(port, batch))
            report(sold + len(batch))


def _worker(master: "Popen[Any]") -> int:
    """Return the child of gunicorn that does the work: its largest."""
    return max(children(master.pid), key=lambda pid: kb(pid, "status", "VmRSS") or 0)


def _figure(plan: Plan, name: str, pid: int) -> Figure:
    resident_kb = kb(pid, "status", "VmRSS") or 0
    with suppress(PermissionError):
        plan.screen.note(f"memory: {name} has a PSS of {split_mb(pid):.0f} MB")
    target = Target(_MOST_MB, is_ceiling=True, is_on_value=True)
    return Figure(f"memory_{name}", resident_kb / _KB_PER_MB, "MB", target)


def split_mb(pid: int) -> float:
    """Return a process's PSS: what is its own, and its part of what it shares. Raises OSError for one that is gone."""
    return (kb(pid, "smaps_rollup", "Pss") or 0) / _KB_PER_MB


def kb(pid: int, file: str, field: str) -> int | None:
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path(f"/proc/{pid}/{file}").read_text(), re.MULTILINE)
    return int(found[1]) if found else None
