"""Prints the sizings as tables for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.scale.limits import LIMITS, STEPS
from bench.scale.sizing import Prices, Sizing

_WIDTH = 118


def show(sizings: Sequence[Sizing], prices: Prices) -> None:
    """Print the resources of each load, the step it runs on, and the exceeded limits before it."""
    console = Console(width=_WIDTH, highlight=False)
    for table in (_processes(sizings), _needs(sizings), _steps(sizings)):
        console.print(table)
        console.print()
    for name, limit in LIMITS.items():
        console.print(f"{name}: {limit.unit}. If exceeded: {limit.change}", soft_wrap=True)
    console.print()
    for step in STEPS:
        console.print(f"{step.name}: {step.how}", soft_wrap=True)
    console.print()
    console.print(
        f"Assumed prices per month: a core with 4 GB {prices.core:g} $, a GB of disk {prices.disk_gb:g} $, of archive"
        f" {prices.archive_gb:g} $, a GB sent {prices.sent_gb:g} $; each server has a standby, a third stays free.",
        soft_wrap=True,
    )


def _processes(sizings: Sequence[Sizing]) -> Table:
    table = _table("Processes at the daily peak", [fleet.name for fleet in sizings[0].fleets])
    table.add_column("longest wait")
    for sizing in sizings:
        waits = (f"{fleet.name} {fleet.longest_wait_s:.0f} s" for fleet in sizing.fleets if fleet.longest_wait_s >= 1)
        table.add_row(*_load_cells(sizing), *(f"{fleet.processes:,}" for fleet in sizing.fleets), ", ".join(waits))
    return table


def _needs(sizings: Sequence[Sizing]) -> Table:
    table = _table("Resources", [*LIMITS, "$ a month"])
    for sizing in sizings:
        needs = (_format(sizing.needs[what]) for what in LIMITS)
        table.add_row(*_load_cells(sizing), *needs, f"{sum(sizing.money.values()):,.0f}")
    return table


def _steps(sizings: Sequence[Sizing]) -> Table:
    table = _table("Smallest step for each load, and the limits exceeded before it", [])
    table.add_column("runs on")
    table.add_column("exceeded before")
    for sizing in sizings:
        step = sizing.verdict.step
        broke = ", ".join(f"{what} ({before})" for before, what in sizing.verdict.broke.items())
        table.add_row(*_load_cells(sizing), step.name if step else "none", broke)
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in ("clicks a day", "sales a day", *columns):
        table.add_column(column, justify="right")
    return table


def _load_cells(sizing: Sizing) -> tuple[str, str]:
    return f"{sizing.load.clicks:,}", f"{sizing.load.sales:,}"


def _format(number: float) -> str:
    if number >= 10:
        return f"{number:,.0f}"
    return f"{number:.2g}" if number >= 0.01 else "0"
