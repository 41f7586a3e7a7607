"""`flask key`: API keys."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.refusals import Refused
from models.organization import api_keys
from pipelines.organization import key_creation

group = AppGroup("key", help="API keys.")


@group.command("create")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.option("--scope", type=click.Choice(["read", "read_write"]), default="read_write", show_default=True)
@click.option("--test", "is_test", is_flag=True, help="Rows it writes are never paid out.")
@click.option("--name", default="", help="What it is for.")
@click.option("--user", "user_email", help="The member it belongs to; default: the first Owner.")
@output.json_option
def create(*, organization: UUID, scope: str, is_test: bool, name: str, user_email: str | None, as_json: bool) -> None:
    """Create an API key; its two secrets are shown only once."""
    with output.operator_transaction():
        issued = key_creation.create(
            organization_id=organization,
            scope=scope,
            is_test=is_test,
            name=name,
            user_email=user_email,
            now=clock.now(),
        )
        details = {"keyId": str(issued.id), "scope": scope, "test": is_test}
        audit_trail.record("api_key.created", details, about=issued.id, organization_id=organization)
    output.show(
        {"id": str(issued.id), "apiKey": issued.api_key, "signingSecret": issued.signing_secret},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"id              {issued.id}\napi key         {issued.api_key}\nsigning secret  {issued.signing_secret}\n"
            "Store both now: they are not shown again."
        ),
    )


@group.command("revoke")
@click.option("--org", "organization", type=click.UUID, required=True)
@click.argument("key_id", type=click.UUID)
@output.json_option
def revoke(organization: UUID, key_id: UUID, as_json: bool) -> None:
    """Revoke an API key for good."""
    with output.operator_transaction():
        if not api_keys.revoke(organization_id=organization, key_id=key_id, at=clock.now()):
            raise Refused(
                404,
                "not_found",
                f"The organization has no active key {key_id}. Next: flask key list --org {organization}",
            )
        audit_trail.record("api_key.revoked", {"keyId": str(key_id)}, about=key_id, organization_id=organization)
    output.show(
        {"id": str(key_id), "revoked": True},
        as_json=as_json,
        print_text=lambda: click.echo(f"{key_id} is revoked; running processes refuse it within seconds."),
    )


@group.command("list")
@click.option("--org", "organization", type=click.UUID)
@output.json_option
def list_keys(organization: UUID | None, as_json: bool) -> None:
    """List API keys, without their secrets."""
    with output.operator_transaction():
        listed = api_keys.any_org_list(organization)
    rows = [
        (key.id, key.organization_id, key.name, key.scope, "test" if key.is_test else "live", f"…{key.last_four}",
         key.revoked_at) for key in listed
    ]  # fmt: skip
    columns = ("id", "organization", "name", "scope", "mode", "ends in", "revoked")
    output.show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        print_text=lambda: output.table(columns, rows, empty="There is no key yet: flask key create --org ID"),
    )
