"""`flask connection`: which gateways are connected, whether they take our credentials, and what came in."""

import functools
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from commands.demo import loopback
from commands.gateways import catalogue
from commands.moments import moment
from domain.gateways.states import ConnectionStatus, EventStatus
from domain.refusals import Refused
from models import db
from models.gateways import admin_queries, connections
from models.gateways.connections import GatewayConnection
from pipelines.gateways import check, reconcile
from pipelines.gateways.reconcile import ReconcileResult, ReconcileRun

group = AppGroup("connection", callback=loopback.call_gateway_here, help="Native connections to payment gateways.")

_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
_connection = click.argument("connection_id", type=click.UUID, metavar="CONNECTION")


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Of this organization alone.")
@click.option("--troubled", "only_troubled", is_flag=True, help="Only those that are refused, or whose events wait.")
@_limit
@output.json_option
def every(organization: UUID | None, only_troubled: bool, limit: int, as_json: bool) -> None:
    """List connections with what of their inboxes waits, those that are refused longest first."""
    with output.every_tenant():
        found = admin_queries.any_org_list_connections(
            organization_id=organization, only_troubled=only_troubled, limit=limit
        )
    is_narrow = organization or only_troubled
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "organization", "gateway", "mode", "status", "last event", "reconciled to", "waiting", "parked",
             "failed", "last error"),
            [
                (one.id, one.organization, one.gateway, one.mode, one.status, _minute(one.last_event_at),
                 _minute(one.reconciled_to), one.waiting, one.parked, one.failed, one.last_error) for one in found
            ],
            empty="There is no such connection." if is_narrow else "No gateway is connected yet.",
        ),
    )  # fmt: skip


@group.command("gateways")
@output.json_option
def every_gateway(as_json: bool) -> None:
    """List the gateways that can be connected, with what each can and cannot do."""
    found = catalogue.rows()
    output.show(
        found,
        as_json=as_json,
        person=lambda: output.table(
            catalogue.COLUMNS, [tuple(row[name] for name in catalogue.COLUMNS) for row in found], empty="None."
        ),
    )


@group.command("check")
@_connection
@output.json_option
def ask_gateway(connection_id: UUID, as_json: bool) -> None:
    """Ask a gateway whether it takes the credentials. Exit status 1: it refuses them, or cannot be reached."""
    with output.every_tenant():
        connection = _in_force(connection_id)
    now = clock.now()
    try:
        refusal = check.check_credentials(connection, now=now)
    except Refused as away:
        raise click.ClickException(away.message) from away
    with output.every_tenant():
        after = check.record(connection, refusal, now=now)
    said = {"id": str(after.id), "gateway": after.gateway, "status": after.status, "refusal": refusal}
    output.show(said, as_json=as_json, person=lambda: click.echo(_checked(after, refusal)))
    if refusal is not None:
        raise SystemExit(1)


@group.command("reconcile")
@_connection
@click.option("--since", type=moment, help="2026-05-04T12:00Z, or 90m, 24h, 7d ago; without it since the last time.")
@output.json_option
def fetch_missed(connection_id: UUID, since: datetime | None, as_json: bool) -> None:
    """List a gateway's payments and refunds now, page by page, and take in what was missed; workers book it."""
    now, found = clock.now(), ReconcileResult()
    with output.every_tenant():
        connection = _in_force(connection_id)
        run = reconcile.prepare(
            organization_id=connection.organization_id, connection_id=connection.id, since=since, now=now
        )
        trail.record(
            "connection.reconciled", {"since": since}, about=connection.id, organization_id=connection.organization_id
        )
    assert run is not None  # it is in force
    say = functools.partial(click.echo, err=as_json)
    say(f"What {connection.gateway} lists since {run.since:%Y-%m-%d %H:%M} UTC …")
    for page in reconcile.list_pages(run, found):
        with output.reaching_the_database(), db.unit_of_work(connection.organization_id):
            reconcile.store_page(run, page, found, now=clock.now())
        say(f"{found.listed} listed, {found.new} new")
    _end(run, found, as_json=as_json)


@group.command("events")
@_connection
@click.option("--status", type=click.Choice([str(status) for status in EventStatus]))
@_limit
@output.json_option
def events(connection_id: UUID, status: str | None, limit: int, as_json: bool) -> None:
    """List what came in through a connection, newest first, and what became of it."""
    with output.every_tenant():
        connection = _find(connection_id)
        found = admin_queries.any_org_list_events(
            organization_id=connection.organization_id, connection_id=connection.id, status=status, limit=limit
        )
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "received", "type", "gateway's id", "status", "reason", "error"),
            [
                (one.id, _minute(one.received_at), one.type, one.gateway_event_id, one.status, one.reason, one.error)
                for one in found
            ],
            empty="There is no such event." if status else "Nothing came in yet.",
        ),
    )


def _end(run: ReconcileRun, found: ReconcileResult, *, as_json: bool) -> None:
    with output.reaching_the_database(), db.unit_of_work(run.connection.organization_id):
        reconcile.finish(run, found, now=clock.now())
    trouble = found.refusal or found.error or found.away
    said = {"connection": str(run.connection.id), "since": run.since, "listed": found.listed, "new": found.new}
    output.show(
        {**said, "error": trouble},
        as_json=as_json,
        person=lambda: click.echo(f"{found.new} new of {found.listed}. Next: flask connection events"
                                  f" {run.connection.id}"),
    )  # fmt: skip
    if trouble is not None:
        raise click.ClickException(f"{run.connection.gateway} ended the list early: {trouble}")


def _find(connection_id: UUID) -> GatewayConnection:
    found = admin_queries.any_org_list_connections(connection_id=connection_id)
    if found:
        connection = connections.find(organization_id=found[0].organization_id, connection_id=connection_id)
        if connection is not None:
            return connection
    raise Refused(404, "not_found", f"There is no connection {connection_id}. Next: flask connection list")


def _in_force(connection_id: UUID) -> GatewayConnection:
    found = _find(connection_id)
    if found.status == ConnectionStatus.Disconnected:
        raise Refused(404, "not_found", f"The connection {connection_id} has ended. Next: flask connection list")
    return found


def _checked(connection: GatewayConnection, refusal: str | None) -> str:
    if refusal is None:
        return f"{connection.gateway} takes the credentials of {connection.account}. It is {connection.status}."
    return f"{connection.gateway} refuses them: {refusal}\nIt is {connection.status}. Next: its Owner gives new ones."


def _minute(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M") if at else ""
