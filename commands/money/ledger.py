"""`flask ledger`: check that balances, amounts and payouts agree."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output
from domain.refusals import Refused
from models.ledger import results, rules
from models.organization import organizations
from models.programs import daily_totals
from pipelines import ledger_check

group = AppGroup("ledger", help="Check that the money adds up.")


@group.command("check")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=ledger_check.MAX_EXCEPTIONS, show_default=True, help="Per rule."
)
@output.json_option
def check(organization: UUID | None, limit: int, as_json: bool) -> None:
    """Check every rule about the money now. Exit status 1 if one is broken."""
    checked = _organizations(organization)
    exceptions: list[dict[str, str]] = []
    for organization_id in checked:
        with output.operator_transaction():
            broken = ledger_check.run(organization_id, limit=limit, now=clock.now())
        exceptions += [{"organization": str(organization_id), "rule": rule, "exception": text} for rule, text in broken]

    def print_text() -> None:
        for row in exceptions:
            click.echo(f"{row['organization']}  {row['rule']}\n    {output.clean_line(row['exception'])}")
        whose = "1 organization" if len(checked) == 1 else f"{len(checked)} organizations"
        click.echo(f"{whose}, {len(rules.RULES)} rules, {len(exceptions)} exceptions")
        if exceptions:
            click.echo(
                "Their payout runs wait for a review until a check is clean. Next: the runbook, The ledger check is red"
            )

    output.show({"organizations": len(checked), "broken": exceptions}, as_json=as_json, print_text=print_text)
    if exceptions:
        raise SystemExit(1)


@group.command("recount-days")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
def recount_days(organization: UUID | None) -> None:
    """Recount the daily totals of programs and affiliates from conversions and clicks."""
    for organization_id in _organizations(organization):
        with output.operator_transaction():
            daily_totals.stage_recount(organization_id)
        click.echo(f"{organization_id}  counted; folded within five minutes")


@group.command("status")
@click.option("--red", "only_red", is_flag=True, help="Only organizations that break a rule.")
@output.json_option
def status(only_red: bool, as_json: bool) -> None:
    """Show the results of the last checks, oldest check first."""
    with output.operator_transaction():
        listed = results.any_org_list(only_red=only_red)
    output.show(
        [
            {
                "organization": str(row.organization_id),
                "checked_at": row.checked_at.isoformat(),
                "broken": row.findings,
            }
            for row in listed
        ],
        as_json=as_json,
        print_text=lambda: output.table(
            ("organization", "name", "checked", "broken", "first"),
            [
                (
                    row.organization_id,
                    row.name,
                    f"{row.checked_at:%Y-%m-%d %H:%M}",
                    len(row.findings),
                    row.findings[0]["rule"] if row.findings else "",
                )
                for row in listed
            ],
            empty="Nothing was checked yet: flask ledger check" if not only_red else "Nothing is broken.",
        ),
    )


def _organizations(organization: UUID | None) -> list[UUID]:
    with output.operator_transaction():
        if organization is None:
            return [organization.id for organization in organizations.any_org_list()]
        if organizations.find(organization) is None:
            raise Refused(404, "not_found", f"There is no organization {organization}. Next: flask org list")
        return [organization]
