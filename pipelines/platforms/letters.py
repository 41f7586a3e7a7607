"""What Owners are told by mail of a connection whose platform refuses us: once, until it is mended."""

from datetime import datetime

from adapters.platforms import registry
from models.organization import organizations
from models.platforms.connections import PlatformConnection
from pipelines import mail


def notify_broken(connection: PlatformConnection, *, now: datetime) -> None:
    """Stage a letter to every Owner: what is refused, what does not happen until it is mended, and what to do."""
    organization = organizations.find(connection.organization_id)
    assert organization is not None  # the connection belongs to it
    label = registry.get(connection.platform).label
    text = (
        f"{label} does not take the credentials of {organization.name} any more.\n\n"
        f"  {label} says: {connection.last_error}\n\n"
        f"Sales that nothing else credits are not looked up at {label} until it takes them again; they are booked as"
        f" ever, without an affiliate.\n\nMake new credentials at {label} and put them into the connection (dashboard,"
        f" connections; or PATCH /api/v1/platforms/{connection.id}), or ask it to be checked when {label} takes the old"
        " ones again. You get this letter once, until the credentials are taken again."
    )
    mail.send_to_owners(
        organization_id=connection.organization_id,
        subject=f"{label} refuses the connection of {organization.name}",
        text=text,
        kind="platform.broken",
        at=now,
    )
