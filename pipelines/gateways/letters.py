"""What Owners are told by mail of a connection whose gateway refuses us: once, until it is mended."""

from datetime import datetime

from adapters.gateways import registry
from models.gateways.connections import GatewayConnection
from models.organization import organizations
from pipelines import mail


def write_broken(connection: GatewayConnection, *, now: datetime) -> None:
    """Stage a letter to every Owner: what is refused, what still goes on, and what to do."""
    organization = organizations.find(connection.organization_id)
    assert organization is not None  # the connection belongs to it
    label = registry.get(connection.gateway).label
    text = (
        f"{label} does not take the credentials of {organization.name} any more, for an hour at least.\n\n"
        f"  account: {connection.account}, in {connection.mode} mode\n"
        f"  {label} says: {connection.last_error}\n\n"
        "What it sends is still taken in. What has to be looked up there waits, and nothing that was missed is fetched."
        f"\n\nMake new credentials at {label} and put them into the connection (dashboard, connections;"
        f" or PATCH /api/v1/connections/{connection.id}). What waits goes on by itself then."
        " You get this letter once, until the credentials are taken again."
    )
    mail.send_to_owners(
        organization_id=connection.organization_id,
        subject=f"{label} refuses the connection of {organization.name}",
        text=text,
        kind="gateway.broken",
        at=now,
    )
