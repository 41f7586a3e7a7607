"""`flask db`: the schema."""

import click
from flask.cli import AppGroup

from adapters import servers
from commands import output
from models import migrate

group = AppGroup("db", help="The database schema.")


@group.command("migrate")
@output.json_option
def up(as_json: bool) -> None:
    """Apply the migrations that are missing."""
    with output.reaching_the_database():
        applied = migrate.up(servers.urls().database_owner_url)
    output.show(
        {"applied": applied},
        as_json=as_json,
        person=lambda: click.echo(f"Applied: {', '.join(applied)}" if applied else "The schema is up to date."),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """List the migrations and say which are applied."""
    with output.reaching_the_database():
        listed = migrate.status(servers.urls().database_owner_url)
    output.show(
        [{"name": migration.name, "applied": migration.is_applied} for migration in listed],
        as_json=as_json,
        person=lambda: output.table(
            ("migration", "applied"),
            [(migration.name, "yes" if migration.is_applied else "NO") for migration in listed],
            empty="There are no migrations.",
        ),
    )
