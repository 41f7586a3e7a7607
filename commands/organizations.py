"""`flask org` and `flask key`: tenants and their API keys."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.organization import plans
from domain.refused import Refused
from models.organization import api_keys, organizations
from pipelines.organization import keys as key_rules
from pipelines.organization import organizations as organization_rules

org = AppGroup("org", help="Organizations (tenants).")
key = AppGroup("key", help="API keys.")


@org.command("create")
@click.option("--name", required=True)
@click.option("--plan", type=click.Choice(list(plans.Tier)), default="Starter", show_default=True)
@click.option("--status", type=click.Choice(list(plans.SubscriptionStatus)), default="Active", show_default=True)
@click.option("--currency", default="USD", show_default=True, help="Home currency.")
@click.option("--owner-email", default="owner@example.com", show_default=True)
@output.json_option
def create(name: str, plan: str, status: str, currency: str, owner_email: str, as_json: bool) -> None:
    """Create an organization with its first Owner."""
    with output.every_tenant():
        now = clock.now()
        organization_id = organization_rules.create(
            name=name, plan=plan, status=status, currency=currency, owner_email=owner_email, now=now
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


@org.command("set")
@click.argument("organization", type=click.UUID)
@click.argument("assignments", nargs=-1, required=True, metavar="FIELD=VALUE...")
@output.json_option
def change(organization: UUID, assignments: tuple[str, ...], as_json: bool) -> None:
    """Change what only an operator may: plan, status, trialEndsAt, gateways, payoutGraceDays, currency, affiliateLimit,
    subdomain, portalHost, billingProvider, billingInterval, fraudStrictness, fraudScore, bannedReferrers, leadPreview,
    leadsPerDay, pixelPublicKey, trackingDomain, trackingDomainVerified, sandboxRail. `none` takes a
    limit, host, key, provider or rail away.
    """
    wanted = dict(_pair(assignment) for assignment in assignments)
    with output.every_tenant():
        organization_rules.change(organization_id=organization, assignments=wanted, now=clock.now())
        trail.record("organization.changed", wanted, about=organization, organization_id=organization)
    output.show(
        {"id": str(organization), "set": wanted},
        as_json=as_json,
        person=lambda: click.echo(f"{organization}: {', '.join(assignments)} (running processes see it in seconds)"),
    )


@org.command("list")
@output.json_option
def every(as_json: bool) -> None:
    """List the organizations."""
    with output.every_tenant():
        listed = organizations.any_org_list()
    output.show(
        [
            {"id": str(one.id), "name": one.name, "plan": one.plan_tier, "status": one.subscription_status}
            for one in listed
        ],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "name", "plan", "status", "gateways"),
            [(one.id, one.name, one.plan_tier, one.subscription_status, ",".join(one.gateways)) for one in listed],
            empty="There is no organization yet: flask org create --name NAME",
        ),
    )


@key.command("create")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--scope", type=click.Choice(["read", "read_write"]), default="read_write", show_default=True)
@click.option("--test", "is_test", is_flag=True, help="Rows it writes never reach a payout.")
@click.option("--name", default="", help="What it is for.")
@click.option("--user", "user_email", help="The member it belongs to; default: the first Owner.")
@output.json_option
def create_key(organization: UUID, scope: str, is_test: bool, name: str, user_email: str | None, as_json: bool) -> None:
    """Create an API key; its two secrets are shown here and never again."""
    with output.every_tenant():
        made = key_rules.create(
            organization_id=organization,
            scope=scope,
            is_test=is_test,
            name=name,
            user_email=user_email,
            now=clock.now(),
        )
        what = {"keyId": str(made.id), "scope": scope, "test": is_test}
        trail.record("api_key.created", what, about=made.id, organization_id=organization)
    output.show(
        {"id": str(made.id), "apiKey": made.api_key, "signingSecret": made.signing_secret},
        as_json=as_json,
        person=lambda: click.echo(
            f"id              {made.id}\napi key         {made.api_key}\nsigning secret  {made.signing_secret}\n"
            "Keep both now: they are not shown again."
        ),
    )


@key.command("revoke")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.argument("key_id", type=click.UUID)
@output.json_option
def revoke(organization: UUID, key_id: UUID, as_json: bool) -> None:
    """Revoke an API key for good."""
    with output.every_tenant():
        if not api_keys.revoke(organization_id=organization, key_id=key_id, at=clock.now()):
            raise Refused(404, "not_found", f"The organization has no key {key_id} in force.")
        trail.record("api_key.revoked", {"keyId": str(key_id)}, about=key_id, organization_id=organization)
    output.show(
        {"id": str(key_id), "revoked": True},
        as_json=as_json,
        person=lambda: click.echo(f"{key_id} is revoked; running processes refuse it within seconds."),
    )


@key.command("list")
@click.option("--org", "organization", type=click.UUID)
@output.json_option
def keys(organization: UUID | None, as_json: bool) -> None:
    """List API keys; never their secrets."""
    with output.every_tenant():
        listed = api_keys.any_org_list(organization)
    rows = [
        (one.id, one.organization_id, one.name, one.scope, "test" if one.is_test else "live", f"…{one.last_four}",
         one.revoked_at) for one in listed
    ]  # fmt: skip
    columns = ("id", "organization", "name", "scope", "mode", "ends in", "revoked")
    output.show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        person=lambda: output.table(columns, rows, empty="There is no key yet: flask key create --org ID"),
    )


def _pair(assignment: str) -> tuple[str, str]:
    name, equals, value = assignment.partition("=")
    if not equals:
        raise click.UsageError(f"{assignment!r} is not FIELD=VALUE.")
    return name.strip(), value.strip()
