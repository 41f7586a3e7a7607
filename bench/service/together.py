"""Megabytes of all that `make run` starts, servers included, after 5,000 sales were delivered. Lower is better.

In: what `make run` runs, with its demo, on a data folder of its own: supervisor, web processes, loops, fleets, what
plays the servers of others, PostgreSQL with a process per connection, and Valkey. The demo's brand sells, and its
receiver is told.
PSS and not RSS: each page counts once in the sum, in parts where processes share it. By RSS what a web process was
forked with would count three times, and PostgreSQL's shared buffers once per connection.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

from adapters.embedded import pair
from bench.figure import Figure, Target
from bench.ground import brand, cpu, fleets, load
from bench.ground.machine import answers, free_port, owner, servers_of
from bench.plan import Plan
from bench.service import memory

_SALES = 5_000
_BATCH = 500
_MOST_MB = 500


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    plan.machine.fresh("memory_together")
    folder = plan.machine.home / "together"
    port = free_port()
    with _up(plan, folder, port) as supervisor:
        made = json.loads((folder / "demo.json").read_text())
        with owner(pair.where(folder).database_owner_url) as cursor:
            _sell(plan, made, port)
            for queue in ("sales", "webhooks"):
                _wait(plan, cursor, supervisor, queue)
        roots = {"processes": supervisor.pid, **servers_of(folder)}
        parts = {name: _megabytes(pid) for name, pid in roots.items()}
    target = Target(_MOST_MB, is_ceiling=True, is_on_value=True)
    return [Figure("memory_together", sum(parts.values()), "MB PSS", target, parts=parts)]


@contextmanager
def _up(plan: Plan, folder: Path, port: int) -> Iterator["Popen[Any]"]:
    told = {"DATABASE_URL": "", "REDIS_URL": "", "DATA_DIR": str(folder), "PORT": str(port)}
    also = {"WEBHOOK_ALLOW_PRIVATE": "", "WEBHOOK_CA_BUNDLE": ""}
    try:
        with plan.machine.running("up", "python", "-m", "commands.service.up", **told, **also) as supervisor:
            plan.machine.wait_for("all processes up", lambda: answers(port, "/healthz"), supervisor)
            yield supervisor
    finally:
        pair.stop(folder)


def _sell(plan: Plan, made: dict[str, str], port: int) -> None:
    sales = plan.size(_SALES)
    seller = brand.Seller(made["apiKey"], made["signingSecret"], [made["affiliateSlug"]])
    with plan.screen.phase("sales to accept", total=sales) as report:
        for sold in range(0, sales, _BATCH):
            batch = seller.sale_requests(min(_BATCH, sales - sold), port=port, prefix=f"batch-{sold}")
            load.fire(load.Order(port, batch))
            report(sold + len(batch))


def _wait(plan: Plan, cursor: Any, supervisor: "Popen[Any]", queue: str) -> None:
    with plan.screen.phase(f"jobs of the queue {queue}", total=plan.size(_SALES)) as report:
        fleets.wait_until_done(
            cursor,
            lambda left: report(max(plan.size(_SALES) - left, 0)),  # a sale is told of more than once
            lambda: plan.machine.check(supervisor),
            queue=queue,
        )


def _megabytes(root: int) -> float:
    return sum(memory.split_mb(process.pid) for process in cpu.tree(root, cpu.running()))
