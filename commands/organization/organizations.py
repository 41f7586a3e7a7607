"""`flask org`: tenants."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
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
    """Create an organization, and email its first Owner a link to sign in (without SMTP_URL it is printed)."""
    from commands.organization import first_owner, people  # slow to import, and needed by this command only

    owner = people.parse_address(owner_email)
    with output.operator_transaction():
        now = clock.now()
        organization_id = tenancy.create(
            name=name, plan=plan, status=status, currency=currency, owner_email=owner, now=now
        )
        audit_trail.record(
            "organization.created",
            {"name": name, "plan": plan, "status": status},
            about=organization_id,
            organization_id=organization_id,
        )
        sign_in_url = first_owner.issue_link(organization_id=organization_id, name=name, email=owner, now=now)
    document = {"id": str(organization_id), "name": name, "signInUrl": sign_in_url}
    next_step = first_owner.describe_sign_in(owner, sign_in_url)
    output.show(
        document,
        as_json=as_json,
        print_text=lambda: click.echo(
            f"{organization_id}  {name}\n{next_step}\nNext: flask key create --org {organization_id}"
        ),
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
    """Change settings that only an operator may change."""
    values = dict(_parse_assignment(assignment) for assignment in assignments)
    with output.operator_transaction():
        tenancy.change(organization_id=organization, assignments=values, now=clock.now())
        audit_trail.record("organization.changed", values, about=organization, organization_id=organization)
    output.show(
        {"id": str(organization), "set": values},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"{organization}: {', '.join(assignments)} (running processes see it in seconds)"
        ),
    )


@group.command("free-host")
@click.argument("host")
@output.json_option
def free_host(host: str, as_json: bool) -> None:
    """Release HOST before its 90 days of reservation for its former organization are over."""
    host = host.lower().removesuffix(".")
    with output.operator_transaction():
        organization_id = tenancy.any_org_free_host(host)
        audit_trail.record(
            "organization.host_freed", {"host": host}, about=organization_id, organization_id=organization_id
        )
    output.show(
        {"host": host, "formerOrganization": str(organization_id)},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"{host} is free for any organization. It was reserved for organization {organization_id}."
        ),
    )


@group.command("list")
@output.json_option
def list_organizations(as_json: bool) -> None:
    """List the organizations."""
    with output.operator_transaction():
        listed = organizations.any_org_list()
    output.show(
        [
            {
                "id": str(row.id),
                "name": row.name,
                "plan": row.plan_tier,
                "status": row.subscription_status,
                "trackingDomain": row.tracking_domain,
                "trackingDomainVerified": row.tracking_domain_verified if row.tracking_domain else None,
            }
            for row in listed
        ],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "name", "plan", "status", "gateways"),
            [(row.id, row.name, row.plan_tier, row.subscription_status, ",".join(row.gateways)) for row in listed],
            empty="There is no organization yet: flask org create --name NAME --owner-email EMAIL",
        ),
    )


def _parse_assignment(assignment: str) -> tuple[str, str]:
    name, equals, value = assignment.partition("=")
    if not equals:
        raise click.UsageError(f"{assignment!r} is not FIELD=VALUE.")
    return name.strip(), value.strip()
