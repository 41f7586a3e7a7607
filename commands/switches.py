"""`flask switch`: list the switches of brands, show why one is paused, and resume, cancel, undo or forget it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.money import currencies, wording
from domain.refusals import Refused
from domain.switches.reasons import LeftOutReason
from domain.switches.states import ENDED, SwitchState
from models import db
from models.switches import admin_queries, erasing, listing, switches
from models.switches.judgement import items
from models.switches.switches import Switch
from pipelines.switches import changes, digests, undoing

group = AppGroup("switch", help="Switches of brands from another affiliate system.")

_NONE = "There is no switch yet: a brand starts one under Switch (POST /api/v1/switches)."
_NO_ROWS = "It has no judged rows: it was not read yet, or its rows are erased."
_ERASED_ROWS = 20_000
_id = click.argument("switch_id", type=click.UUID, metavar="ID")
_LONGEST_ID = 40
_NEXT_OF_STATE: Mapping[SwitchState, str] = {
    SwitchState.Connected: "the brand chooses programs and reads the account on the page of the switch.",
    SwitchState.Reading: "workers of the queue imports go on; this command tells how far they are.",
    SwitchState.Ready: "an Owner of the brand checks the preview and runs it on the page of the switch.",
    SwitchState.Writing: "workers of the queue imports go on; this command tells how far they are.",
    SwitchState.Completed: "nothing. flask switch undo takes it back while undo until is not over.",
    SwitchState.Undoing: "workers of the queue imports go on; this command tells how far they are.",
    SwitchState.Undone: "nothing. A new switch can bring the rows again.",
    SwitchState.Cancelled: "nothing. The brand can start a new switch.",
}
_NEXT_OF_PROBLEM = {
    "credentials_refused": "the brand enters a new key on the page of the switch, then resumes.",
    "source_unavailable": "check whether that system answers, then: flask switch resume",
    "answer_too_large": "the brand switches from files instead; flask switch cancel ends this one.",
    "internal_error": "flask jobs dead shows the failed job; correct the cause, then: flask switch resume",
    "too_many_rows": "the brand switches from files in parts; flask switch cancel ends this one.",
}


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_switches(organization: UUID | None, limit: int, as_json: bool) -> None:
    """List switches, newest first."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list(organization_id=organization, limit=limit)
    output.show(
        [asdict(row) for row in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "organization", "from", "state", "stage", "rows", "problem", "key", "changed"),
            [
                (row.id, row.organization, row.source, row.state, row.stage, row.rows, row.last_error_code,
                 "held" if row.credentials_held else "", row.touched_at) for row in listed
            ],
            empty="There is no such switch." if organization else _NONE,
        ),
    )  # fmt: skip


@group.command("show")
@_id
@output.json_option
def show(switch_id: UUID, as_json: bool) -> None:
    """Show one switch: its state, how far each collection is, and what it waits for."""
    with output.operator_transaction():
        organization_id = _find_organization(switch_id)
        row = listing.find(organization_id=organization_id, switch_id=switch_id)
        assert row is not None  # it was found
        key: Mapping[str, Any] = {"organization_id": organization_id, "switch_ids": [row.id]}
        progress = listing.list_progress(**key).get(row.id, ())
        campaigns = listing.list_campaigns(**key).get(row.id, ())
    document = row._asdict() | {
        "progress": [part._asdict() for part in progress],
        "campaigns": [asdict(campaign) for campaign in campaigns],
    }
    output.show(document, as_json=as_json, print_text=lambda: _print_switch(document))


@group.command("rows")
@_id
@click.option(
    "--reason", type=click.Choice([reason.value for reason in LeftOutReason]), help="Only rows left out for it."
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_rows(switch_id: UUID, reason: str | None, limit: int, as_json: bool) -> None:
    """List the rows of a switch with their verdicts, as the brand sees them."""
    with output.operator_transaction():
        listed, _ = items.list_rows(
            organization_id=_find_organization(switch_id),
            switch_id=switch_id,
            collection=None,
            verdict=None,
            reason=reason,
            take=limit,
            cursor=None,
        )
    output.show(
        [row._asdict() for row in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("collection", "row", "label", "verdict", "reason", "sale", "commission"),
            [
                (row.collection, _shorten(row.source_id), row.label, row.verdict, row.reason,
                 _format_money(row.amount_cents, row.currency), _format_money(row.commission_cents, row.currency))
                for row in listed
            ],
            empty="No row is left out for this reason." if reason else _NO_ROWS,
        ),
    )  # fmt: skip


@group.command("resume")
@_id
@output.json_option
def resume(switch_id: UUID, as_json: bool) -> None:
    """Go on with a paused switch where it stopped."""
    _act(switch_id, "switch.changed", changes.resume, as_json, "It goes on; flask switch show tells how far it is.")


@group.command("cancel")
@_id
@output.json_option
def cancel(switch_id: UUID, as_json: bool) -> None:
    """Cancel a switch that has written nothing; its key and what it read are erased."""
    _act(switch_id, "switch.cancelled", changes.cancel, as_json, "Its key and its rows are erased.")


@group.command("undo")
@_id
@output.json_option
def undo(switch_id: UUID, as_json: bool) -> None:
    """Take a completed switch back, but for what has been used since."""
    _act(switch_id, "switch.undone", undoing.start, as_json, "Workers take it back; flask switch show tells how far.")


@group.command("forget")
@_id
@click.option("--yes", is_flag=True, help="Forget a completed switch without a prompt.")
@output.json_option
def forget(switch_id: UUID, yes: bool, as_json: bool) -> None:
    """Erase the key and the staged rows of a switch that has ended, before their time.

    A completed one cannot be undone afterwards, so the command asks first.
    """
    with output.operator_transaction():
        organization_id = _find_organization(switch_id)
        ended = switches.find(organization_id=organization_id, switch_id=switch_id)
    if ended is not None and ended.state == SwitchState.Completed and not yes:
        click.confirm(f"{switch_id} cannot be undone afterwards. Forget it?", abort=True, err=True)
    with output.operator_transaction():
        switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
        assert switch is not None  # it was found
        if switch.state not in ENDED:
            raise Refused(409, "switch_not_completed", f"It is {switch.state}. Cancel it first: flask switch cancel")
        now = clock.now()
        undo_until = now if switch.state == SwitchState.Completed else switch.undo_until
        switches.update(switch, {"credentials_sealed": None, "undo_until": undo_until})
        audit_trail.record(
            "switch.changed", {"credentialsHeld": False}, about=switch_id, organization_id=organization_id
        )
    while not _erase_rows(organization_id, switch_id):
        pass
    output.show(
        {"id": str(switch_id), "forgotten": True},
        as_json=as_json,
        print_text=lambda: click.echo(f"The key and the staged rows of {switch_id} are erased."),
    )


def _erase_rows(organization_id: UUID, switch_id: UUID) -> bool:
    """Erase some staged rows in a transaction of their own, and return whether these were the last."""
    with output.operator_transaction():
        is_done = bool(erasing.delete_staging(organization_id=organization_id, switch_id=switch_id, limit=_ERASED_ROWS))
        if is_done:
            switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
            assert switch is not None  # it was found
            switches.update(switch, {"is_forgotten": True})
    return is_done


@group.command("digest")
@_id
@output.json_option
def print_digest(switch_id: UUID, as_json: bool) -> None:
    """Print a SHA-256 of the brought records of each collection, and one of all: equal for equal results."""
    with output.operator_transaction():
        organization_id = _find_organization(switch_id)
        computed = digests.compute(organization_id=organization_id, switch_id=switch_id)
        switch = switches.find(organization_id=organization_id, switch_id=switch_id)
    output.show(
        computed,
        as_json=as_json,
        print_text=lambda: click.echo("\n".join(f"{value}  {name}" for name, value in computed.items())),
    )
    if switch is not None and switch.result is None:
        click.echo(f"Nothing was brought: it is {switch.state}. These are the checksums of nothing.", err=True)


def _act(switch_id: UUID, action: str, act: Callable[..., Switch], as_json: bool, following: str) -> None:
    with output.operator_transaction():
        organization_id = _find_organization(switch_id)
    with output.reporting_database_errors():
        try:
            with db.unit_of_work(organization_id):
                switch = act(organization_id=organization_id, switch_id=switch_id, now=clock.now())
                audit_trail.record(action, {"state": switch.state}, about=switch_id, organization_id=organization_id)
        except Refused as refusal:
            raise click.ClickException(refusal.message) from refusal
    output.show(
        {"id": str(switch_id), "state": switch.state},
        as_json=as_json,
        print_text=lambda: click.echo(f"{switch_id} is {switch.state}. {following}"),
    )


def _find_organization(switch_id: UUID) -> UUID:
    organization_id = admin_queries.any_org_find_organization(switch_id)
    if organization_id is None:
        raise Refused(404, "not_found", f"There is no switch {switch_id}. Next: flask switch list")
    return organization_id


def _shorten(source_id: str) -> str:
    """Return an id that fits into a column: of a row without an id, the start of its checksum."""
    return source_id if len(source_id) <= _LONGEST_ID else f"{source_id[: _LONGEST_ID - 1]}…"


def _format_money(cents: int | None, currency: str | None) -> str:
    if cents is None or currency is None:
        return ""
    return wording.format_money(cents, currency) if currencies.normalize(currency) else f"{cents} {currency}"


def _print_switch(document: Mapping[str, Any]) -> None:
    for name, value in document.items():
        if name not in ("progress", "campaigns", "result") and value not in (None, {}, []):
            click.echo(f"{name.replace('_', ' '):20} {output.clean_line(_describe(value))}")
    click.echo()
    if document["campaigns"]:
        output.table(
            ("campaign", "name", "program"),
            [(row["source_id"], row["name"], row["program_id"] or "left out") for row in document["campaigns"]],
            empty="",
        )
        click.echo()
    output.table(
        ("collection", "read", "total", "written"),
        [(part["collection"], part["read"], part["total"], part["written"]) for part in document["progress"]],
        empty="Nothing was read yet.",
    )
    if document["result"]:
        click.echo()
        output.table(
            ("brought", "created", "merged", "changed", "left out"),
            [
                (name, row["created"], row["merged"], row["changed"], row["left_out"])
                for name, row in document["result"].items()
            ],
            empty="",
        )
    click.echo(f"\nNext: {_find_next(document)}")


def _describe(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_describe(part)}" for name, part in value.items() if part is not None)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_describe, value))
    return str(value)


def _find_next(document: Mapping[str, Any]) -> str:
    """Return what the operator or the brand does next with a switch."""
    state, problem = document["state"], document["last_error_code"]
    if state == SwitchState.Paused or (problem is not None and state == SwitchState.Undoing):
        return _NEXT_OF_PROBLEM.get(problem, "flask switch resume")
    return _NEXT_OF_STATE[SwitchState(state)]
