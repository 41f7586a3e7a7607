"""Whom `flask listen` and `flask trigger` rehearse with: the demo brand, or the organization that is named."""

import json
from uuid import UUID

import click

import settings
from models.organization import organizations
from models.organization.organizations import Organization

option = click.option("--org", "organization", type=click.UUID, help="Of this organization; without it the demo brand.")


def find(wanted: UUID | None) -> Organization:
    """Return the organization, inside the operator's transaction. Raises ClickException."""
    organization_id = wanted or _demo()
    found = organizations.find(organization_id)
    if found is None:
        raise click.ClickException(f"There is no organization {organization_id}. Next: flask org list")
    return found


def _demo() -> UUID:
    kept = settings.current().servers.data_dir / "demo.json"
    try:
        return UUID(json.loads(kept.read_text())["organizationId"])
    except (OSError, ValueError, KeyError):
        message = f"There is no demo brand in {kept.parent}: make it with flask demo, or name somebody with --org."
        raise click.ClickException(message) from None
