"""Whom `flask listen` and `flask trigger` rehearse with: the demo brand, or the organization that is named."""

import json
from uuid import UUID

import click

import settings
from models.organization import organizations
from models.organization.organizations import Organization

option = click.option("--org", "organization", type=click.UUID, help="Of this organization; without it the demo brand.")


def find(wanted: UUID | None, *, has_gateway: bool = False) -> Organization:
    """Return the organization, inside the operator's transaction; of the demo's brands the one with a gateway, or not.

    Raises ClickException.
    """
    organization_id = wanted or _demo(has_gateway=has_gateway)
    found = organizations.find(organization_id)
    if found is None:
        raise click.ClickException(f"There is no organization {organization_id}. Next: flask org list")
    return found


def _demo(*, has_gateway: bool) -> UUID:
    kept = settings.current().servers.data_dir / "demo.json"
    try:
        return UUID(json.loads(kept.read_text())["gatewayOrganizationId" if has_gateway else "organizationId"])
    except (OSError, ValueError, KeyError):
        message = (
            f"There is no demo brand with a gateway in {kept.parent}: `make run` makes it; or name somebody with --org."
            if has_gateway
            else f"There is no demo brand in {kept.parent}: make it with flask demo, or name somebody with --org."
        )
        raise click.ClickException(message) from None
