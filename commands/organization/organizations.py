"""`flask org`: tenants."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.organization import plans
from models.organization import organizations
from pipelines.organization import operator_settings, tenancy

group = AppGroup("org", help="Organizations (tenants).")


@group.command("create")
@click.option("--name", required=True)
@click.option("--plan", type=click.Choice(list(plans.Tier)), default="Starter", show_default=True)
@click.option("--status", type=click.Choice(list(plans.SubscriptionStatus)), default="Active", show_default=True)
@click.option("--currency", default="USD", show_default=True, help="Home currency.")
@click.option("--owner-email", required=True, help="Who signs in first, as its Owner, and gets its emails.")
@output.json_option
def create(*, name: str, plan: str, status: str, currency: str, owner_email: str, as_json: bool) -> None:
    """Create an organization with its first Owner."""
    from commands.organization import people  # only this command reads an address, and its reader is slow to import

    owner = people.address(owner_email)
    with output.every_tenant():
        now = clock.now()
        organization_id = tenancy.create(
            name=name, plan=plan, status=status, currency=currency, owner_email=owner, now=now
        )
        trail.record(
            "organization.created",
            {"name": name, "plan": plan, "status": status},
            about=organization_id,
            organization_id=organization_id,
        )
    output.show(
        {"id": str(organization_id), "name": name},
        as_json=as_json,
        person=lambda: click.echo(f"{organization_id}  {name}\nNext: flask key create --org {organization_id}"),
    )


@group.command(
    "set",
    help=f"Change what only an operator may: {', '.join(operator_settings.NAMES)}. `none` takes a limit, host, key,"
    " provider or rail away.",
)
@click.argument("organization", type=click.UUID)
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@output.json_option
def change(organization: UUID, assignments: tuple[str, ...], as_json: bool) -> None:
    """Change settings that are the operator's alone."""
    wanted = dict(_pair(assignment) for assignment in assignments)
    with output.every_tenant():
        tenancy.change(organization_id=organization, assignments=wanted, now=clock.now())
        trail.record("organization.changed", wanted, about=organization, organization_id=organization)
    output.show(
        {"id": str(organization), "set": wanted},
        as_json=as_json,
        person=lambda: click.echo(f"{organization}: {', '.join(assignments)} (running processes see it in seconds)"),
    )


@group.command("free-host")
@click.argument("host")
@output.json_option
def free_host(host: str, as_json: bool) -> None:
    """Let any organization verify HOST before the 90 days since its last organization left it are over."""
    host = host.lower().removesuffix(".")
    with output.every_tenant():
        organization_id = tenancy.any_org_free_host(host)
        trail.record("organization.host_freed", {"host": host}, about=organization_id, organization_id=organization_id)
    output.show(
        {"host": host, "formerOrganization": str(organization_id)},
        as_json=as_json,
        person=lambda: click.echo(f"{host} is free. It was held for organization {organization_id}."),
    )


@group.command("list")
@output.json_option
def every(as_json: bool) -> None:
    """List the organizations."""
    with output.every_tenant():
        listed = organizations.any_org_list()
    output.show(
        [
            {
                "id": str(one.id),
                "name": one.name,
                "plan": one.plan_tier,
                "status": one.subscription_status,
                "trackingDomain": one.tracking_domain,
                "trackingDomainVerified": one.tracking_domain_verified if one.tracking_domain else None,
            }
            for one in listed
        ],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "name", "plan", "status", "gateways"),
            [(one.id, one.name, one.plan_tier, one.subscription_status, ",".join(one.gateways)) for one in listed],
            empty="There is no organization yet: flask org create --name NAME --owner-email EMAIL",
        ),
    )


def _pair(assignment: str) -> tuple[str, str]:
    name, equals, value = assignment.partition("=")
    if not equals:
        raise click.UsageError(f"{assignment!r} is not FIELD=VALUE.")
    return name.strip(), value.strip()
