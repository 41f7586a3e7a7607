"""`python -m bench [--quick] [--only NAME]`: measures every figure, prints the table, writes bench/results.json.

It reports and never asserts: whether a target is met is a column, not an exit status. Ctrl-C leaves nothing behind.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from bench import (
    affiliate_list,
    clicks_accepted,
    clicks_written,
    deep_page,
    deliveries,
    export_50k,
    import_1000,
    list_at_1m,
    memory,
    payout_preview,
    payout_run,
    program_stats_1m,
    sales_accepted,
    sales_settled,
    settle_at_1m,
    slow_clients,
    transfers,
)
from bench.figure import Figure
from bench.machine import STOP_SIGNALS, BenchFailed, Machine
from bench.plan import Plan
from bench.screen import Screen

_RESULTS = Path(__file__).parent / "results.json"
_QUICK_DIVISOR = 10

#: In the order in which they run.
_FIGURES = {
    "sales_accepted": sales_accepted.measure,
    "clicks_accepted": clicks_accepted.measure,
    "clicks_written": clicks_written.measure,
    "sales_settled": sales_settled.measure,
    "deliveries": deliveries.measure,
    "affiliate_list": affiliate_list.measure,
    "settle_at_1m": settle_at_1m.measure,
    "program_stats_1m": program_stats_1m.measure,
    "deep_page": deep_page.measure,
    "list_at_1m": list_at_1m.measure,
    "export_50k": export_50k.measure,
    "import_1000": import_1000.measure,
    "payout_preview": payout_preview.measure,
    "payout_run": payout_run.measure,
    "transfers": transfers.measure,
    "slow_clients": slow_clients.measure,
    "memory": memory.measure,
}


def main() -> int:
    """Measure what was asked for; 130 when interrupted, 1 when something broke."""
    chosen = _arguments()
    screen = Screen()
    for number in STOP_SIGNALS:
        signal.signal(number, _interrupt)
    started = time.monotonic()
    try:
        with Machine() as machine:
            plan = Plan(machine, screen, _QUICK_DIVISOR if chosen.quick else 1)
            figures = _measured(plan, chosen.only or list(_FIGURES))
    except KeyboardInterrupt:
        screen.say("interrupted; everything is stopped")
        return 130
    except BenchFailed as failure:
        screen.say(f"failed: {failure}")
        return 1
    _RESULTS.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    _show(screen, figures)
    size = "quick run, a tenth of everything" if chosen.quick else "full run"
    screen.say(f"{size}, {time.monotonic() - started:.0f} s; load average {os.getloadavg()[1]:.1f} over 5 minutes")
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="The product beside its anchors.")
    parser.add_argument("--quick", action="store_true", help="everything ten times smaller")
    parser.add_argument("--only", action="append", choices=list(_FIGURES), help="one figure; may be repeated")
    return parser.parse_args()


def _measured(plan: Plan, names: Sequence[str]) -> list[Figure]:
    figures = []
    for name in names:
        plan.screen.say(f"{name} ...")
        figures += _FIGURES[name](plan)
    return figures


def _show(screen: Screen, figures: Sequence[Figure]) -> None:
    table = Table("figure", box=None, header_style="bold", pad_edge=False)
    for column in ("value", "anchor", "ratio"):
        table.add_column(column, justify="right")
    for column in ("target", "meets"):
        table.add_column(column)
    for figure in figures:
        table.add_row(
            figure.name,
            f"{_short(figure.value)} {figure.unit}",
            _short(figure.anchor),
            _short(figure.ratio),
            str(figure.target),
            "yes" if figure.meets else "no",
        )
    screen.console.print(table)
    for note in screen.notes:
        screen.say(note)


def _short(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main())
