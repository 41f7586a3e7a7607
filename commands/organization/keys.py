"""`flask key`: API keys."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.refusals import Refused
from models.organization import api_keys
from pipelines.organization import key_creation

group = AppGroup("key", help="API keys.")


@group.command("create")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--scope", type=click.Choice(["read", "read_write"]), default="read_write", show_default=True)
@click.option("--test", "is_test", is_flag=True, help="Rows it writes never reach a payout.")
@click.option("--name", default="", help="What it is for.")
@click.option("--user", "user_email", help="The member it belongs to; default: the first Owner.")
@output.json_option
def create(*, organization: UUID, scope: str, is_test: bool, name: str, user_email: str | None, as_json: bool) -> None:
    """Create an API key; its two secrets are shown here and never again."""
    with output.every_tenant():
        made = key_creation.create(
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


@group.command("revoke")
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


@group.command("list")
@click.option("--org", "organization", type=click.UUID)
@output.json_option
def every(organization: UUID | None, as_json: bool) -> None:
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
