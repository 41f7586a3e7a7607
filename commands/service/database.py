"""`flask db`: migrations, monthly partitions, and distribution over a Citus cluster."""

from collections.abc import Sequence

import click
from flask.cli import AppGroup

import settings
from adapters import clock, servers
from commands import output
from models import migrate
from models.schema import distribution
from models.schema.distribution import TablePlan
from models.upkeep.partitions import MonthPartition
from pipelines import partitions
from pipelines.partitions import TablePartitions

group = AppGroup("db", help="The database schema.")


@group.command("migrate")
@output.json_option
def migrate_schema(as_json: bool) -> None:
    """Apply pending migrations."""
    applied = apply_migrations()
    output.show(
        {"applied": applied},
        as_json=as_json,
        print_text=lambda: click.echo(f"Applied: {', '.join(applied)}" if applied else "The schema is up to date."),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """List the migrations, whether each is applied, and whether it was changed afterwards."""
    with output.reporting_database_errors():
        listed = migrate.status(servers.urls().database_owner_url)
    missing = sum(not migration.is_applied for migration in listed)
    changed = sum(migration.is_changed for migration in listed)

    def print_text() -> None:
        output.table(
            ("migration", "applied"),
            [(row.name, "CHANGED SINCE" if row.is_changed else "yes" if row.is_applied else "NO") for row in listed],
            empty="There are no migrations.",
        )
        if missing or changed:
            click.echo(f"{missing} missing, {changed} changed since they were applied. Next: flask db migrate")
        else:
            click.echo(f"All {len(listed)} are applied.")

    output.show(
        [{"name": row.name, "applied": row.is_applied, "changed": row.is_changed} for row in listed],
        as_json=as_json,
        print_text=print_text,
    )


@group.command("partitions")
@output.json_option
def show_partitions(as_json: bool) -> None:
    """Show the partitions of tables partitioned by month, and those of this and next month that are missing."""
    with output.operator_transaction():
        tables = partitions.list_tables(now=clock.now())
    output.show(
        [
            {
                "table": table.table,
                "missing": [month.isoformat() for month in table.missing],
                "partitions": [_serialize_partition(part) for part in table.partitions],
            }
            for table in tables
        ],
        as_json=as_json,
        print_text=lambda: _print_partitions(tables),
    )


@group.command("distribute")
@click.option("--print", "is_dry", is_flag=True, help="Show the statements and run none.")
@output.json_option
def distribute(is_dry: bool, as_json: bool) -> None:
    """Distribute the tables over a Citus cluster, each organization's rows on one machine.

    Or show what is not ready.
    """
    owner_url = servers.urls().database_owner_url
    with output.reporting_database_errors():
        plans = distribution.plan_database(owner_url)
    refused = [plan for plan in plans if plan.refusals]
    output.show([_serialize_plan(plan) for plan in plans], as_json=as_json, print_text=lambda: _print_plans(plans))
    if is_dry:
        return
    if refused:
        raise click.ClickException(f"Nothing was done: {len(refused)} tables are not ready.")
    with output.reporting_database_errors():
        done = distribution.distribute(owner_url, plans)
    if not done:
        raise click.ClickException("Nothing was done: this PostgreSQL has no extension citus.")


def _print_partitions(tables: Sequence[TablePartitions]) -> None:
    output.table(
        ("partition", "from", "until", "rows, about", "MB"),
        [
            (
                part.name,
                f"{part.since:%Y-%m-%d}" if part.since else None,
                f"{part.until:%Y-%m-%d}" if part.until else None,
                part.rows,
                part.bytes // 1_000_000,
            )
            for table in tables
            for part in table.partitions
        ],
        empty="No table is partitioned by month.",
    )
    for table in tables:
        for month in table.missing:
            click.echo(f"{table.table} HAS NO PARTITION for {month:%Y-%m}: its rows go into {table.table}_default")


def _serialize_partition(part: MonthPartition) -> dict[str, object]:
    return {
        "name": part.name,
        "since": part.since.isoformat() if part.since else None,
        "until": part.until.isoformat() if part.until else None,
        "rows": part.rows,
        "bytes": part.bytes,
    }


def _print_plans(plans: list[TablePlan]) -> None:
    for plan in plans:
        stays = f"-- {plan.table} stays on the first machine: {plan.reason}"
        click.echo(f"{plan.statement};" if plan.statement else stays)
        for refusal in plan.refusals:
            click.echo(f"-- NOT READY {plan.table}: {refusal}")


def _serialize_plan(plan: TablePlan) -> dict[str, object]:
    return {
        "table": plan.table,
        "placement": plan.placement,
        "reason": plan.reason,
        "statement": plan.statement,
        "refusals": plan.refusals,
    }


def apply_migrations() -> list[str]:
    """Apply pending migrations and return their names. Raises ClickException."""
    config = settings.current().servers
    if config.is_pooled and config.database_owner_url is None:
        raise click.ClickException(
            "DATABASE_OWNER_URL is not set. Migrations hold a lock across transactions, which a transaction pool"
            " does not keep. Next: set it to the address of PostgreSQL itself."
        )
    with output.reporting_database_errors():
        return migrate.up(servers.urls().database_owner_url, report=lambda line: click.echo(line, err=True))
