"""`flask secrets`: a new SECRET_KEY, and when the former one may go."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from flask.cli import AppGroup

import settings
from commands import output, trail
from models import db
from pipelines import key_rotation
from pipelines.key_rotation import SealCount

group = AppGroup("secrets", help="What SECRET_KEY seals, and its rotation.")


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """Count what is sealed with SECRET_KEY, with a former key, and with none that is known."""
    with _told():
        counts = key_rotation.status()
    output.show(_as_json(counts), as_json=as_json, person=lambda: _tell(counts))


@group.command("reseal")
@click.option("--dry-run", is_flag=True, help="Only count, as `flask secrets status` does.")
@click.option("--leave-unreadable", is_flag=True, help="Go on though some values open with none of the keys.")
@output.json_option
def reseal(dry_run: bool, leave_unreadable: bool, as_json: bool) -> None:
    """Seal with SECRET_KEY what the keys of SECRET_KEY_PREVIOUS sealed. It can be stopped and repeated at any time."""
    resealed: dict[str, int] = {}
    with _told():
        if not dry_run:
            resealed = key_rotation.reseal(leave_unreadable=leave_unreadable, on_progress=_Progress(is_silent=as_json))
            with db.any_org_work():
                trail.record("secrets.resealed", resealed, about="SECRET_KEY")
        counts = key_rotation.status()

    def person() -> None:
        if not dry_run:
            click.echo(f"Sealed with SECRET_KEY: {sum(resealed.values())} values.")
        _tell(counts)

    output.show({"resealed": resealed, **_as_json(counts)}, as_json=as_json, person=person)


class _Progress:
    """One line on standard error per thousand values of a kind."""

    def __init__(self, is_silent: bool) -> None:
        self._is_silent = is_silent
        self._told: dict[str, int] = {}

    def __call__(self, kind: str, number: int) -> None:
        thousands = number // 1000
        if not self._is_silent and thousands > self._told.get(kind, 0):
            self._told[kind] = thousands
            click.echo(f"{kind}: {number}", err=True)


@contextmanager
def _told() -> Iterator[None]:
    with output.reaching_the_database():
        try:
            yield
        except (key_rotation.UnreadableValues, settings.BadSetting) as error:
            raise click.ClickException(str(error)) from error


def _as_json(counts: Sequence[SealCount]) -> dict[str, object]:
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


def _tell(counts: Sequence[SealCount]) -> None:
    columns = ("what", "SECRET_KEY", "former keys", "no key")
    output.table(columns, [(one.kind, one.current, one.former, one.neither) for one in counts], empty="")
    if any(count.former for count in counts):
        click.echo("SECRET_KEY_PREVIOUS is still needed. Next: flask secrets reseal")
    elif settings.current().servers.former_secret_keys:
        click.echo("Nothing needs SECRET_KEY_PREVIOUS. Next: the runbook, A new SECRET_KEY")
    for count in counts:
        if count.neither:
            click.echo(f"No key opens {count.neither} of the {count.kind}, the first of them: {count.unreadable[0]}")
