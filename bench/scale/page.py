"""Prints the sizings as tables for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.scale.limits import LIMITS, STEPS
from bench.scale.sizing import Prices, Sizing

_WIDTH = 118


def show(answers: Sequence[Sizing], prices: Prices) -> None:
    """Print the resources of each load, the step it runs on, and the exceeded limits before it."""
    console = Console(width=_WIDTH, highlight=False)
    for table in (_processes(answers), _needs(answers), _steps(answers)):
        console.print(table)
        console.print()
    for name, limit in LIMITS.items():
        console.print(f"{name}: {limit.unit}. When it runs out: {limit.change}", soft_wrap=True)
    console.print()
    for step in STEPS:
        console.print(f"{step.name}: {step.how}", soft_wrap=True)
    console.print()
    console.print(
        f"Money, assumed: a month of a core with 4 GB {prices.core:g} $, of a GB on disk {prices.disk_gb:g} $, in the"
        f" archive {prices.archive_gb:g} $, and a GB sent {prices.sent_gb:g} $; a standby each, a third stays free.",
        soft_wrap=True,
    )


def _processes(answers: Sequence[Sizing]) -> Table:
    table = _table("Processes in the busiest minutes of a day", [fleet.name for fleet in answers[0].fleets])
    table.add_column("the longest wait")
    for sizing in answers:
        waits = (f"{fleet.name} {fleet.longest_wait_s:.0f} s" for fleet in sizing.fleets if fleet.longest_wait_s >= 1)
        table.add_row(*_load_cells(sizing), *(f"{fleet.processes:,}" for fleet in sizing.fleets), ", ".join(waits))
    return table


def _needs(answers: Sequence[Sizing]) -> Table:
    table = _table("What they need", [*LIMITS, "$ a month"])
    for sizing in answers:
        needs = (_format(sizing.needs[what]) for what in LIMITS)
        table.add_row(*_load_cells(sizing), *needs, f"{sum(sizing.money.values()):,.0f}")
    return table


def _steps(answers: Sequence[Sizing]) -> Table:
    table = _table("Where they run, and what broke first before", [])
    table.add_column("runs on")
    table.add_column("before it broke")
    for sizing in answers:
        step = sizing.verdict.step
        broke = ", ".join(f"{what} ({before})" for before, what in sizing.verdict.broke.items())
        table.add_row(*_load_cells(sizing), step.name if step else "none of these", broke)
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
