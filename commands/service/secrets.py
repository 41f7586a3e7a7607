"""`flask secrets`: rotate SECRET_KEY, and show whether the former key is still needed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from flask.cli import AppGroup

import settings
from commands import audit_trail, output
from models import db
from pipelines import key_rotation
from pipelines.key_rotation import SealCount

group = AppGroup("secrets", help="Values sealed with SECRET_KEY, and its rotation.")


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Count the values sealed with SECRET_KEY, with a former key, and with an unknown key."""
    with _reporting_errors():
        counts = key_rotation.status()
    output.show(_serialize(counts), as_json=as_json, print_text=lambda: _print_counts(counts))


@group.command("reseal")
@click.option("--dry-run", is_flag=True, help="Only count, as `flask secrets status` does.")
@click.option("--leave-unreadable", is_flag=True, help="Continue although no key opens some values.")
@output.json_option
def reseal(dry_run: bool, leave_unreadable: bool, as_json: bool) -> None:
    """Reseal with SECRET_KEY the values sealed with SECRET_KEY_PREVIOUS. May be stopped and repeated."""
    resealed: dict[str, int] = {}
    with _reporting_errors():
        if not dry_run:
            resealed = key_rotation.reseal(leave_unreadable=leave_unreadable, on_progress=_Progress(is_silent=as_json))
            with db.any_org_work():
                audit_trail.record("secrets.resealed", resealed, about="SECRET_KEY")
        counts = key_rotation.status()

    def print_text() -> None:
        if not dry_run:
            click.echo(f"Sealed with SECRET_KEY: {sum(resealed.values())} values.")
        _print_counts(counts)

    output.show({"resealed": resealed, **_serialize(counts)}, as_json=as_json, print_text=print_text)


class _Progress:
    """Prints a line on standard error per thousand values of a kind."""

    def __init__(self, is_silent: bool) -> None:
        self._is_silent = is_silent
        self._printed: dict[str, int] = {}

    def __call__(self, kind: str, number: int) -> None:
        thousands = number // 1000
        if not self._is_silent and thousands > self._printed.get(kind, 0):
            self._printed[kind] = thousands
            click.echo(f"{kind}: {number}", err=True)


@contextmanager
def _reporting_errors() -> Iterator[None]:
    with output.reporting_database_errors():
        try:
            yield
        except (key_rotation.UnreadableValues, settings.BadSetting) as error:
            raise click.ClickException(str(error)) from error


def _serialize(counts: Sequence[SealCount]) -> dict[str, object]:
    return {
        "sealed": [
            {
                "kind": count.kind,
                "current": count.current,
                "former": count.former,
                "unreadable": count.neither,
                "first_unreadable": list(count.unreadable),
            }
            for count in counts
        ],
        "former": sum(count.former for count in counts),
        "unreadable": sum(count.neither for count in counts),
    }


def _print_counts(counts: Sequence[SealCount]) -> None:
    columns = ("what", "SECRET_KEY", "former keys", "no key")
    output.table(columns, [(count.kind, count.current, count.former, count.neither) for count in counts], empty="")
    if any(count.former for count in counts):
        click.echo("SECRET_KEY_PREVIOUS is still needed. Next: flask secrets reseal")
    elif settings.current().servers.former_secret_keys:
        click.echo("Nothing needs SECRET_KEY_PREVIOUS. Next: the runbook, Changing SECRET_KEY")
    for count in counts:
        if count.neither:
            click.echo(f"No key opens {count.neither} of the {count.kind}, the first of them: {count.unreadable[0]}")
