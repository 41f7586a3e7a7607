"""`python -m bench [--quick] [--only NAME]`: measure every figure, print the table, write bench/results.json.

It reports and never asserts: whether a target is met is a column, not an exit status. A figure that fails is reported,
and the others are measured. Ctrl-C stops everything and prints the table of the figures measured so far.
"""

import argparse
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from bench.figure import Figure
from bench.ground.machine import STOP_SIGNALS, BenchFailed, Machine
from bench.plan import Plan
from bench.screen import Screen

_RESULTS = Path(__file__).parent / "results.json"
_QUICK_DIVISOR = 10

#: The module of each figure, in the order in which they run.
_FIGURES = {
    "sales_accepted": "conversions.acceptance",
    "clicks_accepted": "clicks.acceptance",
    "clicks_timed": "clicks.latency",
    "clicks_written": "clicks.writer",
    "sales_settled": "conversions.settlement",
    "sales_delivered": "conversions.delivery",
    "gateway_events_booked": "gateways",
    "deliveries": "webhooks",
    "affiliate_list": "affiliates",
    "tool_call": "tools",
    "switch_1m": "switches",
}


def main() -> int:
    """Measure the requested figures; return 130 if interrupted, 1 after a failure."""
    arguments = _arguments()
    screen = Screen()
    for number in STOP_SIGNALS:
        signal.signal(number, _interrupt)
    started = time.monotonic()
    figures: list[Figure] = []
    failures: list[str] = []
    try:
        with Machine() as machine:
            plan = Plan(machine, screen, _QUICK_DIVISOR if arguments.quick else 1)
            for name in arguments.only or _FIGURES:
                screen.say(f"{name} ...")
                try:
                    figures.extend(_measure(plan, name))
                except BenchFailed as failure:
                    failures.append(f"{name} failed: {failure}")
                    screen.say(failures[-1])
    except KeyboardInterrupt:
        _show(screen, figures)
        screen.say("interrupted; everything is stopped, and bench/results.json is unchanged")
        return 130
    except BenchFailed as failure:  # there is no machine to measure on
        screen.say(f"failed: {failure}")
        return 1
    _RESULTS.write_text(json.dumps([figure.as_json() for figure in figures], indent=2) + "\n")
    _show(screen, figures)
    for failure_line in failures:
        screen.say(failure_line)
    size = "quick run, a tenth of everything" if arguments.quick else "full run"
    screen.say(f"{size}, {time.monotonic() - started:.0f} s; load average {os.getloadavg()[1]:.1f} over 5 minutes")
    return 1 if failures else 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the product and its anchors.")
    parser.add_argument("--quick", action="store_true", help="everything ten times smaller")
    parser.add_argument("--only", action="append", choices=list(_FIGURES), help="one figure; may be repeated")
    return parser.parse_args()


def _measure(plan: Plan, name: str) -> list[Figure]:
    neighbours = plan.machine.neighbours()
    figures = importlib.import_module(f"bench.{_FIGURES[name]}").measure(plan)
    others = neighbours.share()
    return [figure if figure.others is not None else replace(figure, others=others) for figure in figures]


def _show(screen: Screen, figures: Sequence[Figure]) -> None:
    table = Table("figure", box=None, header_style="bold", pad_edge=False)
    for column in ("value", "anchor", "ratio"):
        table.add_column(column, justify="right")
    for column in ("target", "meets"):
        table.add_column(column)
    table.add_column("others", justify="right")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{_format(figure.value)} {figure.unit}",
            _format(figure.anchor),
            _format(figure.ratio),
            str(figure.target or ""),
            {True: "yes", False: "no", None: ""}[figure.meets],
            "" if figure.others is None else f"{figure.others:.0%}",
        )
    screen.console.print(table)
    screen.say("others: the share of our cores that other processes used during the measurement")
    for figure in figures:
        if figure.parts:
            parts = (f"{name} {_format(part)}" for name, part in figure.parts.items())
            screen.say(f"{figure.name}: {', '.join(parts)} {figure.unit}")
    for note in screen.notes:
        screen.say(note)


def _format(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main())
