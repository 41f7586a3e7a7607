"""`flask ledger`: does the money add up?"""

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

group = AppGroup("ledger", help="Whether the money adds up.")


@group.command("check")
@click.option("--org", "organization", type=click.UUID, help="This organization alone.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=ledger_check.MAX_EXCEPTIONS, show_default=True, help="Per rule."
)
@output.json_option
def check(organization: UUID | None, limit: int, as_json: bool) -> None:
    """Check every rule about the money now; exit status 1 when one is broken."""
    checked = _organizations(organization)
    found: list[dict[str, str]] = []
    for organization_id in checked:
        with output.every_tenant():
            broken = ledger_check.run(organization_id, limit=limit, now=clock.now())
        found += [{"organization": str(organization_id), "rule": rule, "exception": text} for rule, text in broken]

    def person() -> None:
        for one in found:
            click.echo(f"{one['organization']}  {one['rule']}\n    {output.clean_line(one['exception'])}")
        whose = "1 organization" if len(checked) == 1 else f"{len(checked)} organizations"
        click.echo(f"{whose}, {len(rules.RULES)} rules, {len(found)} exceptions")
        if found:
            click.echo(
                "Their payout runs wait for a review until a check is clean. Next: the runbook, The money is red"
            )

    output.show({"organizations": len(checked), "broken": found}, as_json=as_json, person=person)
    if found:
        raise SystemExit(1)


@group.command("recount-days")
@click.option("--org", "organization", type=click.UUID, help="This organization alone.")
def recount_days(organization: UUID | None) -> None:
    """Count the days of programs and affiliates anew, out of conversions and clicks."""
    for organization_id in _organizations(organization):
        with output.every_tenant():
            daily_totals.stage_recount(organization_id)
        click.echo(f"{organization_id}  counted; folded within five minutes")


@group.command("status")
@click.option("--red", "only_red", is_flag=True, help="Only organizations with something broken.")
@output.json_option
def status(only_red: bool, as_json: bool) -> None:
    """Show what the last checks found, the oldest check first."""
    with output.every_tenant():
        found = results.any_org_list(only_red=only_red)
    output.show(
        [
            {
                "organization": str(one.organization_id),
                "checked_at": one.checked_at.isoformat(),
                "broken": one.findings,
            }
            for one in found
        ],
        as_json=as_json,
        person=lambda: output.table(
            ("organization", "name", "checked", "broken", "first"),
            [
                (
                    one.organization_id,
                    one.name,
                    f"{one.checked_at:%Y-%m-%d %H:%M}",
                    len(one.findings),
                    one.findings[0]["rule"] if one.findings else "",
                )
                for one in found
            ],
            empty="Nothing was checked yet: flask ledger check" if not only_red else "Nothing is broken.",
        ),
    )


def _organizations(organization: UUID | None) -> list[UUID]:
    with output.every_tenant():
        if organization is None:
            return [one.id for one in organizations.any_org_list()]
        if organizations.find(organization) is None:
            raise Refused(404, "not_found", f"There is no organization {organization}. Next: flask org list")
        return [organization]
