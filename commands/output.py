"""How the operator commands speak: a table or a few lines for a person, one JSON document for a program."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

import settings
from adapters import servers
from domain.refusals import Refused
from domain.text import one_line
from models import db, migrate
from models.schema import steps

_MAX_LINE = 2_000

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")


def show(value: Mapping[str, Any] | Sequence[Any], *, as_json: bool, person: Callable[[], None]) -> None:
    """Print `value` as JSON, or let `person` print it for a reader."""
    if as_json:
        click.echo(orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2).decode())
    else:
        person()


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    """Print rows as a table, or `empty` when there are none."""
    if not rows:
        click.echo(empty)
        return
    printed = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        printed.add_row(*("" if cell is None else clean_line(str(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 200
    Console(width=width, markup=False, emoji=False, highlight=False).print(printed)  # names and errors are not markup


def clean_line(text: str) -> str:
    """Return text by strangers as one line for a terminal, without escape sequences and direction marks."""
    return one_line.format_line(text, max_length=_MAX_LINE)


def clean_text(text: str) -> str:
    """Return text by strangers for a terminal: its line breaks stay, escape sequences and direction marks do not."""
    return "\n".join(one_line.clean(line) for line in text.split("\n"))


@contextmanager
def every_tenant() -> Iterator[None]:
    """Open the operator's transaction; refusals and an absent database become one line and exit status 1."""
    with reaching_the_database():
        try:
            with db.any_org_work():
                yield
        except Refused as refusal:
            raise click.ClickException(refusal.message) from refusal


@contextmanager
def reaching_the_database() -> Iterator[None]:
    """Say in one line that the database is away or lacks migrations, or that nothing runs here; it starts no server."""
    if servers.is_database_asleep():
        folder = settings.current().servers.data_dir
        raise click.ClickException(f"Finderfee does not run here: make run\n(DATA_DIR is {folder}, and is not in use)")
    try:
        yield
    except steps.MigrationHalted as halt:
        raise click.ClickException(str(halt)) from halt
    except (*db.UNAVAILABLE, db.UNDEFINED) as error:
        if problem := _migration_problem():
            raise click.ClickException(problem) from error
        if isinstance(error, db.UNDEFINED):
            raise
        raise click.ClickException(f"The database cannot be reached: {str(error).strip()}") from error


def _migration_problem() -> str | None:
    """Return what is wrong with the migrations; asks as the owner, since the first one makes the service's role."""
    try:
        is_current = all(migration.is_applied for migration in migrate.status(servers.urls().database_owner_url))
    except db.UNAVAILABLE:
        return None
    except steps.MigrationHalted as halt:
        return str(halt)
    return None if is_current else "The database lacks migrations. Next: flask db migrate"
