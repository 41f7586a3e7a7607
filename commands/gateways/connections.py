"""`flask connection`: connected gateways, whether they accept the stored credentials, and their events."""

import functools
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from commands.demo import loopback
from commands.gateways import catalogue
from commands.timestamps import parse_timestamp
from domain.gateways.states import ConnectionStatus, EventStatus
from domain.refusals import Refused
from models import db
from models.gateways import admin_queries, connections
from models.gateways.connections import GatewayConnection
from pipelines.gateways import check, reconcile
from pipelines.gateways.reconcile import ReconcileResult, ReconcileRun

group = AppGroup("connection", callback=loopback.use_simulated_gateway, help="Native connections to payment gateways.")

_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
_connection = click.argument("connection_id", type=click.UUID, metavar="CONNECTION")


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
@click.option(
    "--troubled", "only_troubled", is_flag=True, help="Only connections that are refused, or whose events wait."
)
@_limit
@output.json_option
def list_connections(organization: UUID | None, only_troubled: bool, limit: int, as_json: bool) -> None:
    """List connections with their numbers of waiting events, longest refused first."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_connections(
            organization_id=organization, only_troubled=only_troubled, limit=limit
        )
    is_narrow = organization or only_troubled
    output.show(
        [asdict(connection) for connection in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "organization", "gateway", "mode", "status", "last event", "reconciled to", "waiting", "parked",
             "failed", "last error"),
            [
                (row.id, row.organization, row.gateway, row.mode, row.status, _format_minute(row.last_event_at),
                 _format_minute(row.reconciled_to), row.waiting, row.parked, row.failed, row.last_error)
                for row in listed
            ],
            empty="There is no such connection." if is_narrow else "No gateway is connected yet.",
        ),
    )  # fmt: skip


@group.command("gateways")
@output.json_option
def list_gateways(as_json: bool) -> None:
    """List the gateways that can be connected, with their capabilities."""
    rows = catalogue.build_rows()
    output.show(
        rows,
        as_json=as_json,
        print_text=lambda: output.table(
            catalogue.COLUMNS, [tuple(row[name] for name in catalogue.COLUMNS) for row in rows], empty="None."
        ),
    )


@group.command("check")
@_connection
@output.json_option
def check_credentials(connection_id: UUID, as_json: bool) -> None:
    """Check whether a gateway accepts the credentials. Exit status 1: it refuses them, or cannot be reached."""
    with output.operator_transaction():
        connection = _find_active(connection_id)
    now = clock.now()
    try:
        refusal = check.check_credentials(connection, now=now)
    except Refused as error:
        raise click.ClickException(error.message) from error
    with output.operator_transaction():
        after = check.record(connection, refusal, now=now)
    document = {"id": str(after.id), "gateway": after.gateway, "status": after.status, "refusal": refusal}
    output.show(document, as_json=as_json, print_text=lambda: click.echo(_describe_check(after, refusal)))
    if refusal is not None:
        raise SystemExit(1)


@group.command("reconcile")
@_connection
@click.option(
    "--since",
    type=parse_timestamp,
    metavar="MOMENT",
    help="2026-05-04T12:00Z, or 90m, 24h, 7d ago; without it since the last reconcile.",
)
@output.json_option
def reconcile_connection(connection_id: UUID, since: datetime | None, as_json: bool) -> None:
    """List a gateway's payments and refunds now, page by page, and store missed events; workers book them."""
    now, progress = clock.now(), ReconcileResult()
    with output.operator_transaction():
        connection = _find_active(connection_id)
        run = reconcile.prepare(
            organization_id=connection.organization_id, connection_id=connection.id, since=since, now=now
        )
        audit_trail.record(
            "connection.reconciled", {"since": since}, about=connection.id, organization_id=connection.organization_id
        )
    assert run is not None  # it is in force
    echo = functools.partial(click.echo, err=as_json)
    echo(f"Listing {connection.gateway} since {run.since:%Y-%m-%d %H:%M} UTC …")
    for page in reconcile.list_pages(run, progress):
        with output.reporting_database_errors(), db.unit_of_work(connection.organization_id):
            reconcile.store_page(run, page, progress, now=clock.now())
        echo(f"{progress.listed} listed, {progress.new} new")
    _finish(run, progress, as_json=as_json)


@group.command("events")
@_connection
@click.option("--status", type=click.Choice([str(status) for status in EventStatus]))
@_limit
@output.json_option
def list_events(connection_id: UUID, status: str | None, limit: int, as_json: bool) -> None:
    """List the events of a connection, newest first, with their status."""
    with output.operator_transaction():
        connection = _find(connection_id)
        listed = admin_queries.any_org_list_events(
            organization_id=connection.organization_id, connection_id=connection.id, status=status, limit=limit
        )
    output.show(
        [asdict(event) for event in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "received", "type", "gateway's id", "status", "reason", "error"),
            [
                (
                    row.id,
                    _format_minute(row.received_at),
                    row.type,
                    row.gateway_event_id,
                    row.status,
                    row.reason,
                    row.error,
                )
                for row in listed
            ],
            empty="There is no such event." if status else "No events yet.",
        ),
    )


def _finish(run: ReconcileRun, progress: ReconcileResult, *, as_json: bool) -> None:
    with output.reporting_database_errors(), db.unit_of_work(run.connection.organization_id):
        reconcile.finish(run, progress, now=clock.now())
    error = progress.refusal or progress.error or progress.unreachable_reason
    document = {
        "connection": str(run.connection.id),
        "since": run.since,
        "listed": progress.listed,
        "new": progress.new,
    }
    output.show(
        {**document, "error": error},
        as_json=as_json,
        print_text=lambda: click.echo(f"{progress.new} new of {progress.listed}. Next: flask connection events"
                                  f" {run.connection.id}"),
    )  # fmt: skip
    if error is not None:
        raise click.ClickException(f"{run.connection.gateway} ended the list early: {error}")


def _find(connection_id: UUID) -> GatewayConnection:
    rows = admin_queries.any_org_list_connections(connection_id=connection_id)
    if rows:
        connection = connections.find(organization_id=rows[0].organization_id, connection_id=connection_id)
        if connection is not None:
            return connection
    raise Refused(404, "not_found", f"There is no connection {connection_id}. Next: flask connection list")


def _find_active(connection_id: UUID) -> GatewayConnection:
    connection = _find(connection_id)
    if connection.status == ConnectionStatus.Disconnected:
        raise Refused(404, "not_found", f"The connection {connection_id} has ended. Next: flask connection list")
    return connection


def _describe_check(connection: GatewayConnection, refusal: str | None) -> str:
    if refusal is None:
        return f"{connection.gateway} accepts the credentials of {connection.account}. Status: {connection.status}."
    return (
        f"{connection.gateway} refuses the credentials: {refusal}\n"
        f"Status: {connection.status}. Next: its Owner enters new ones."
    )


def _format_minute(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M") if at else ""
