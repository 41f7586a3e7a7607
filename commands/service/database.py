"""`flask db`: the schema."""

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
def up(as_json: bool) -> None:
    """Apply the migrations that are missing."""
    applied = bring_up_to_date()
    output.show(
        {"applied": applied},
        as_json=as_json,
        person=lambda: click.echo(f"Applied: {', '.join(applied)}" if applied else "The schema is up to date."),
    )


@group.command("status")
@output.json_option
def status(as_json: bool) -> None:
    """List the migrations and say which are applied, and which were changed afterwards."""
    with output.reaching_the_database():
        listed = migrate.status(servers.urls().database_owner_url)
    missing = sum(not one.is_applied for one in listed)
    changed = sum(one.is_changed for one in listed)

    def person() -> None:
        output.table(
            ("migration", "applied"),
            [(one.name, "CHANGED SINCE" if one.is_changed else "yes" if one.is_applied else "NO") for one in listed],
            empty="There are no migrations.",
        )
        if missing or changed:
            click.echo(f"{missing} missing, {changed} changed since they were applied. Next: flask db migrate")
        else:
            click.echo(f"All {len(listed)} are applied.")

    output.show(
        [{"name": one.name, "applied": one.is_applied, "changed": one.is_changed} for one in listed],
        as_json=as_json,
        person=person,
    )


@group.command("partitions")
@output.json_option
def show_partitions(as_json: bool) -> None:
    """Show the tables that lie in months, partition by partition, and which of this and the next month is missing."""
    with output.every_tenant():
        found = partitions.list_tables(now=clock.now())
    output.show(
        [
            {
                "table": one.table,
                "missing": [month.isoformat() for month in one.missing],
                "partitions": [_partition(part) for part in one.partitions],
            }
            for one in found
        ],
        as_json=as_json,
        person=lambda: _tell_partitions(found),
    )


@group.command("distribute")
@click.option("--print", "is_dry", is_flag=True, help="Show the statements and run none.")
@output.json_option
def distribute(is_dry: bool, as_json: bool) -> None:
    """Put the tables on the machines of a Citus cluster, each organization's rows on one; or say what is not ready."""
    owner_url = servers.urls().database_owner_url
    with output.reaching_the_database():
        plans = distribution.of_database(owner_url)
    refused = [plan for plan in plans if plan.refusals]
    output.show([_plan_document(plan) for plan in plans], as_json=as_json, person=lambda: _tell_plans(plans))
    if is_dry:
        return
    if refused:
        raise click.ClickException(f"Nothing was done: {len(refused)} tables are not ready.")
    with output.reaching_the_database():
        done = distribution.distribute(owner_url, plans)
    if not done:
        raise click.ClickException("Nothing was done: this PostgreSQL has no extension citus.")


def _tell_partitions(found: Sequence[TablePartitions]) -> None:
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
            for one in found
            for part in one.partitions
        ],
        empty="No table lies in months.",
    )
    for one in found:
        for month in one.missing:
            click.echo(f"{one.table} HAS NO PARTITION for {month:%Y-%m}: its rows go into {one.table}_default")


def _partition(part: MonthPartition) -> dict[str, object]:
    return {
        "name": part.name,
        "since": part.since.isoformat() if part.since else None,
        "until": part.until.isoformat() if part.until else None,
        "rows": part.rows,
        "bytes": part.bytes,
    }


def _tell_plans(plans: list[TablePlan]) -> None:
    for plan in plans:
        stays = f"-- {plan.table} stays on the first machine: {plan.reason}"
        click.echo(f"{plan.statement};" if plan.statement else stays)
        for refusal in plan.refusals:
            click.echo(f"-- NOT READY {plan.table}: {refusal}")


def _plan_document(plan: TablePlan) -> dict[str, object]:
    return {
        "table": plan.table,
        "placement": plan.placement,
        "reason": plan.reason,
        "statement": plan.statement,
        "refusals": plan.refusals,
    }


def bring_up_to_date() -> list[str]:
    """Apply the migrations that are missing and return their names; raises click.ClickException where it cannot."""
    chosen = settings.current().servers
    if chosen.is_pooled and chosen.database_owner_url is None:
        raise click.ClickException(
            "DATABASE_OWNER_URL is not set. Migrating holds a lock for longer than a transaction, which a pool of "
            "transactions would give to somebody else: name PostgreSQL itself there."
        )
    with output.reaching_the_database():
        return migrate.up(servers.urls().database_owner_url, tell=lambda line: click.echo(line, err=True))
