"""The resources of a load: processes, connections, disk and money, and the first limit of every step towards it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.scale import demand, fleets, limits
from bench.scale.costs import Costs
from bench.scale.demand import Load
from bench.scale.fleets import Fleet
from workers.procfile.supervisor import parse

_MS = 1_000
_MB, _GB, _TB = 1e6, 1e9, 1e12
# The longest acceptable waits in the day's busiest step.
_SETTLED_WITHIN_S, _DELIVERED_WITHIN_S, _WRITTEN_WITHIN_S = 10, 30, 30
_PROCFILE = Path(__file__).resolve().parents[2] / "Procfile"
# Kinds whose number of processes depends on the load; the others run once.
_SIZED = ("web", "relay", "sales", "webhooks", "clicks")
# Threads of a web process without WEB_THREADS.
_WEB_THREADS = 8
# Days for which rows are stored (default settings), and days of write-ahead log in the archive.
_PASSING_DAYS, _YEAR_DAYS, _ARCHIVE_DAYS = 90, 365, 7
# The largest brand has this share of all clicks; they are written one batch at a time.
_LARGEST_BRAND = 0.1
# The cores that a waiting process uses.
_IDLE_CORES = 0.02
# Every server has a standby as large as itself, and a third of each machine stays free.
_COPIES, _ROOM = 2, 1.5
# Bytes sent for a delivery and for a redirect, including TLS and headers.
_DELIVERY_BYTES, _REDIRECT_BYTES = 4_000, 1_500
_MONTH_DAYS = 30


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars a month: assumptions for rented machines, not a vendor's prices."""

    core: float = 30.0  # with 4 GB of memory
    disk_gb: float = 0.1
    archive_gb: float = 0.02
    sent_gb: float = 0.05


@dataclass(frozen=True, slots=True)
class Sizing:
    """The resources of a load. `needs` is in the units of `LIMITS`, money in dollars a month."""

    load: Load
    fleets: Sequence[Fleet]
    needs: Mapping[str, float]
    money: Mapping[str, float]
    verdict: limits.StepResult


def size_load(load: Load, costs: Costs, prices: Prices) -> Sizing:
    """Return the resources that a load needs."""
    sales, clicks = demand.per_second(load.sales), demand.per_second(load.clicks)

    def cores(process: str) -> list[float]:
        of_sale, of_click = costs.sale.get(process, 0) / _MS, costs.click.get(process, 0) / _MS
        return [sale * of_sale + click * of_click for sale, click in zip(sales, clicks, strict=True)]

    threads = _threads()
    others = [number for name, number in threads.items() if name not in _SIZED]
    running = [
        fleets.size_serving("web", cores("web"), threads=threads["web"]),
        fleets.size_serving("relay", cores("relay"), threads=threads["relay"]),
        fleets.size_queue("sales", cores("sales"), threads=threads["sales"], max_wait_s=_SETTLED_WITHIN_S),
        fleets.size_queue("webhooks", cores("webhooks"), threads=threads["webhooks"], max_wait_s=_DELIVERED_WITHIN_S),
        fleets.size_queue("clicks", cores("clicks"), threads=threads["clicks"], max_wait_s=_WRITTEN_WITHIN_S),
    ]
    processes = sum(fleet.processes for fleet in running)
    wal = max(sale * costs.sale_wal + click * costs.click_wal for sale, click in zip(sales, clicks, strict=True))
    disk = load.sales * (costs.sale_kept * _YEAR_DAYS + costs.sale_passing * _PASSING_DAYS)
    disk += load.clicks * costs.click_passing * _PASSING_DAYS
    written = (costs.click["clicks"] + costs.click["postgres"]) / _MS
    needs = {
        "cores": processes + max(cores("postgres")) + max(cores("valkey")),
        "connections": sum(fleet.processes * fleet.threads for fleet in running) + sum(others),
        "postgres": max(cores("postgres")),
        "wal": wal / _MB,
        "disk": disk / _TB,
        "valkey": max(cores("valkey")),
        "turn": max(clicks) * _LARGEST_BRAND * written,
    }
    money = _money(load, costs, prices, needs=needs, cores=processes + len(others) * _IDLE_CORES)
    return Sizing(load, running, needs, money, limits.find_step(needs))


def _money(
    load: Load, costs: Costs, prices: Prices, *, needs: Mapping[str, float], cores: float
) -> Mapping[str, float]:
    servers = max(needs["postgres"] + needs["valkey"], 1.0) * _COPIES * _ROOM
    archived = (load.sales * costs.sale_wal + load.clicks * costs.click_wal) * _ARCHIVE_DAYS
    traffic = (load.sales * _DELIVERY_BYTES + load.clicks * _REDIRECT_BYTES) * _MONTH_DAYS
    return {
        "processes": cores * _ROOM * prices.core,
        "servers": servers * prices.core,
        "disk": needs["disk"] * _TB / _GB * _COPIES * prices.disk_gb,
        "archive": archived / _GB * prices.archive_gb,
        "sent": traffic / _GB * prices.sent_gb,
    }


def _threads() -> Mapping[str, int]:
    """Return the threads of a process of each kind in the Procfile; each keeps a connection."""
    matches = {name: re.search(r" -t (\d+)", command) for name, command in parse(_PROCFILE.read_text()).items()}
    return {name: int(match[1]) if match else 1 for name, match in matches.items()} | {"web": _WEB_THREADS}
