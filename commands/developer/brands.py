"""The organization of `flask listen` and `flask trigger`: a demo brand, or the one of --org."""

import json
from uuid import UUID

import click

import settings
from models.organization import organizations
from models.organization.organizations import Organization

option = click.option("--org", "organization", type=click.UUID, help="This organization; default: the demo brand.")


def find(requested: UUID | None, *, has_gateway: bool = False) -> Organization:
    """Return the organization: by id, or the demo brand with or without a gateway. Needs the operator's transaction.

    Raises ClickException.
    """
    organization_id = requested or _find_demo(has_gateway=has_gateway)
    organization = organizations.find(organization_id)
    if organization is None:
        raise click.ClickException(f"There is no organization {organization_id}. Next: flask org list")
    return organization


def _find_demo(*, has_gateway: bool) -> UUID:
    path = settings.current().servers.data_dir / "demo.json"
    try:
        return UUID(json.loads(path.read_text())["gatewayOrganizationId" if has_gateway else "organizationId"])
    except (OSError, ValueError, KeyError):
        message = (
            f"There is no demo brand with a gateway in {path.parent}. Next: make run, or name another with --org"
            if has_gateway
            else f"There is no demo brand in {path.parent}. Next: flask demo, or name an organization with --org"
        )
        raise click.ClickException(message) from None
