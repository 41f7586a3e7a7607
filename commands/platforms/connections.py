"""`flask platform`: connected platforms, and whether they accept the stored credentials."""

from dataclasses import asdict
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output
from commands.platforms import catalogue
from domain.refusals import Refused
from models.platforms import admin_queries, connections
from models.platforms.connections import PlatformConnection
from pipelines.platforms import check

group = AppGroup("platform", help="Newsletter and CRM platforms that say who brought a buyer.")


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
@click.option("--troubled", "only_troubled", is_flag=True, help="Only connections that are refused or credit no one.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_connections(organization: UUID | None, only_troubled: bool, limit: int, as_json: bool) -> None:
    """List connections to platforms, Broken ones first, with how many payments wait for platforms."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_connections(
            organization_id=organization, only_troubled=only_troubled, limit=limit
        )
    is_narrow = organization or only_troubled
    output.show(
        [asdict(connection) for connection in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "organization", "platform", "status", "credits since", "field", "waiting", "last error"),
            [
                (row.id, row.organization, row.platform, row.status,
                 row.credits_since.strftime("%Y-%m-%d %H:%M") if row.credits_since else "off",
                 row.slug_field, row.waiting, row.last_error) for row in listed
            ],
            empty="There is no such connection." if is_narrow else "No platform is connected yet.",
        ),
    )  # fmt: skip


@group.command("check")
@click.argument("connection_id", type=click.UUID, metavar="CONNECTION")
@output.json_option
def check_credentials(connection_id: UUID, as_json: bool) -> None:
    """Check whether a platform accepts the credentials. Exit status 1: it refuses them, or cannot be reached."""
    with output.operator_transaction():
        connection = _find(connection_id)
    try:
        word = check.check_credentials(connection)
    except Refused as error:
        raise click.ClickException(error.message) from error
    with output.operator_transaction():
        after = check.record(connection, word, now=clock.now())
        if after is None:
            raise _not_found(connection_id)
    document = {"id": str(after.id), "platform": after.platform, "status": after.status, **asdict(word)}
    output.show(document, as_json=as_json, print_text=lambda: click.echo(_describe_check(after, word)))
    if word.refusal is not None:
        raise SystemExit(1)


@group.command("catalogue")
@output.json_option
def list_platforms(as_json: bool) -> None:
    """List the platforms that can be connected, with the fields that the slug is read from."""
    rows = catalogue.build_rows()
    output.show(
        rows,
        as_json=as_json,
        print_text=lambda: output.table(
            catalogue.COLUMNS, [tuple(row[name] for name in catalogue.COLUMNS) for row in rows], empty="None."
        ),
    )


def _find(connection_id: UUID) -> PlatformConnection:
    rows = admin_queries.any_org_list_connections(connection_id=connection_id)
    if rows:
        connection = connections.find(organization_id=rows[0].organization_id, connection_id=connection_id)
        if connection is not None:
            return connection
    raise _not_found(connection_id)


def _not_found(connection_id: UUID) -> Refused:
    return Refused(404, "not_found", f"There is no connection {connection_id}. Next: flask platform list")


def _describe_check(connection: PlatformConnection, word: check.CredentialCheck) -> str:
    if word.refusal is not None:
        return (
            f"{connection.platform} refuses the credentials: {word.refusal}\n"
            "Status: Broken. Next: its Owner enters new ones."
        )
    but = f", but {word.warning}" if word.warning else ""
    return f"{connection.platform} accepts the credentials{but}. Status: {connection.status}."
