"""`flask platform`: which platforms are connected, and whether they take our credentials."""

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
@click.option("--org", "organization", type=click.UUID, help="Of this organization alone.")
@click.option("--troubled", "only_troubled", is_flag=True, help="Only those that are refused, or lead nowhere.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def every(organization: UUID | None, only_troubled: bool, limit: int, as_json: bool) -> None:
    """List connections to platforms, Broken ones first, with how many payments wait for platforms."""
    with output.every_tenant():
        found = admin_queries.any_org_list_connections(
            organization_id=organization, only_troubled=only_troubled, limit=limit
        )
    is_narrow = organization or only_troubled
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "organization", "platform", "status", "credits since", "field", "waiting", "last error"),
            [
                (one.id, one.organization, one.platform, one.status,
                 one.credits_since.strftime("%Y-%m-%d %H:%M") if one.credits_since else "off",
                 one.slug_field, one.waiting, one.last_error) for one in found
            ],
            empty="There is no such connection." if is_narrow else "No platform is connected yet.",
        ),
    )  # fmt: skip


@group.command("check")
@click.argument("connection_id", type=click.UUID, metavar="CONNECTION")
@output.json_option
def ask_platform(connection_id: UUID, as_json: bool) -> None:
    """Ask a platform whether it takes the credentials. Exit status 1: it refuses them, or cannot be reached."""
    with output.every_tenant():
        connection = _found(connection_id)
    try:
        word = check.check_credentials(connection)
    except Refused as away:
        raise click.ClickException(away.message) from away
    with output.every_tenant():
        after = check.record(connection, word, now=clock.now())
        if after is None:
            raise _absent(connection_id)
    said = {"id": str(after.id), "platform": after.platform, "status": after.status, **asdict(word)}
    output.show(said, as_json=as_json, person=lambda: click.echo(_checked(after, word)))
    if word.refusal is not None:
        raise SystemExit(1)


@group.command("catalogue")
@output.json_option
def every_platform(as_json: bool) -> None:
    """List the platforms that can be connected, with where the slug is read in each."""
    found = catalogue.rows()
    output.show(
        found,
        as_json=as_json,
        person=lambda: output.table(
            catalogue.COLUMNS, [tuple(row[name] for name in catalogue.COLUMNS) for row in found], empty="None."
        ),
    )


def _found(connection_id: UUID) -> PlatformConnection:
    rows = admin_queries.any_org_list_connections(connection_id=connection_id)
    if rows:
        connection = connections.find(organization_id=rows[0].organization_id, connection_id=connection_id)
        if connection is not None:
            return connection
    raise _absent(connection_id)


def _absent(connection_id: UUID) -> Refused:
    return Refused(404, "not_found", f"There is no connection {connection_id}. Next: flask platform list")


def _checked(connection: PlatformConnection, word: check.CredentialCheck) -> str:
    if word.refusal is not None:
        return f"{connection.platform} refuses them: {word.refusal}\nIt is Broken. Next: its Owner gives new ones."
    but = f", but {word.warning}" if word.warning else ""
    return f"{connection.platform} takes the credentials{but}. It is {connection.status}."
