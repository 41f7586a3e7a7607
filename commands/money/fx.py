"""`flask fx`: the reference rates by which amounts are converted and paid, the same for every organization."""

import sys
from pathlib import Path

import click
from flask.cli import AppGroup
from rich.progress import Progress

from adapters import clock, fx_feed
from commands import audit_trail, output
from domain.money.fx_files import BadRates, RateFile
from models.money import fx_rates
from pipelines import fx_intake
from pipelines.fx_intake import LoadResult

group = AppGroup("fx", help="Reference rates of currencies.")


@group.command("load")
@click.argument("source", metavar="FILE|URL")
@output.json_option
def load(source: str, as_json: bool) -> None:
    """Store the rates of a file: all, or none if a line is invalid.

    CSV with the columns currency, perUsd (major units per 1 USD) and date, or the XML of the European Central Bank, of
    a day or of its whole history, whose rates per euro are converted to rates per dollar. An existing rate is
    replaced; payouts made by it do not change.
    """
    file = _read(source)
    with output.operator_transaction():
        loaded = _store(file, is_shown=not as_json)
        document = _serialize(loaded)
        audit_trail.record("fx_rates.loaded", document, about=source[-200:])
    output.show(document, as_json=as_json, print_text=lambda: click.echo(_describe(loaded)))


@group.command("list")
@output.json_option
def list_rates(as_json: bool) -> None:
    """List the newest rate of every currency."""
    with output.operator_transaction():
        rates = fx_rates.list_newest()
    rows = [(rate.currency, f"{rate.per_usd.normalize():f}", str(rate.on)) for rate in rates]
    columns = ("currency", "perUsd", "date")
    output.show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        print_text=lambda: output.table(columns, rows, empty="There is no rate yet: flask fx load FILE"),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Show how old the rate of every currency in use is, oldest first. No payouts are made in a stale currency."""
    with output.operator_transaction():
        ages = fx_intake.any_org_list_ages(now=clock.now())
    output.show(
        [{"currency": age.currency, "newest": age.newest, "ageDays": age.days, "stale": age.is_stale} for age in ages],
        as_json=as_json,
        print_text=lambda: output.table(
            ("currency", "newest", "days old", ""),
            [(age.currency, age.newest or "none", age.days, "stale" if age.is_stale else "") for age in ages],
            empty="All amounts are in USD: no rate is needed.",
        ),
    )


def _read(source: str) -> RateFile:
    now = clock.now()
    try:
        if "://" in source:
            return fx_intake.fetch(source, now=now)
        with Path(source).open("rb") as file:
            content = file.read(fx_feed.MAX_BYTES + 1)
    except (fx_feed.FeedUnavailable, BadRates) as error:
        raise click.ClickException(f"{source}: {error}. Nothing was stored.") from error
    except OSError as error:
        raise click.ClickException(f"{source}: {error.strerror}") from error
    if len(content) > fx_feed.MAX_BYTES:
        raise click.ClickException(f"{source}: the file is longer than {fx_feed.MAX_BYTES} bytes")
    try:
        return fx_intake.read(content, now=now)
    except BadRates as error:
        raise click.ClickException(f"{source}: {error}. Nothing was stored.") from error


def _store(file: RateFile, *, is_shown: bool) -> LoadResult:
    """Store rates, with a progress bar on a terminal."""
    progress = Progress(transient=True, disable=not (is_shown and sys.stdout.isatty()))
    with progress:
        task = progress.add_task("rates", total=len(file.rates))
        return fx_intake.store(file, on_progress=lambda number: progress.advance(task, number))


def _serialize(loaded: LoadResult) -> dict[str, object]:
    return {
        "new": loaded.new,
        "replaced": loaded.replaced,
        "known": loaded.unchanged,
        "newest": str(loaded.newest),
        "skipped": list(loaded.skipped),
    }


def _describe(loaded: LoadResult) -> str:
    lines = [f"{loaded.new} new, {loaded.replaced} replaced, {loaded.unchanged} known already; up to {loaded.newest}"]
    if loaded.skipped:
        lines.append(f"Skipped, unsupported currencies: {', '.join(loaded.skipped)}")
    return "\n".join([*lines, "Next: flask fx status"])
