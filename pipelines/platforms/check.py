"""Whether a platform still takes the credentials of a connection, and what becomes of one that it refuses.

Who refuses breaks a connection at once, and its Owners are told: it is not asked any more until somebody mends it.
"""

from dataclasses import dataclass
from datetime import datetime

from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.base import PlatformUnreachable
from domain.platforms.names import PlatformStatus
from models.organization import organizations
from models.platforms import connections
from models.platforms.connections import PlatformConnection
from pipelines import mail
from pipelines.platforms import connect


@dataclass(frozen=True, slots=True)
class CredentialsCheck:
    """What a platform said of credentials: its words against them, or what is wrong with what they lead to."""

    refusal: str | None = None
    warning: str | None = None


def check_credentials(connection: PlatformConnection) -> CredentialsCheck:
    """Ask the platform whether it takes the credentials of a connection. Calls it.

    Raises Refused 503 platform_unreachable.
    """
    adapter = registry.get(connection.platform)
    try:
        return CredentialsCheck(warning=adapter.check(connect.account_from_row(connection)))
    except CredentialsRefused as error:
        return CredentialsCheck(refusal=str(error))
    except PlatformUnreachable as error:
        raise connect.unreachable_refusal(adapter, error) from error


def record(checked: PlatformConnection, result: CredentialsCheck, *, now: datetime) -> PlatformConnection | None:
    """Write what a platform said of a connection as it was found, and return it as it is now; None where it ended.

    Of credentials that were replaced in the meantime nothing is said.
    """
    connection = connections.lock(organization_id=checked.organization_id, connection_id=checked.id)
    if connection is None or connection.credentials_sealed != checked.credentials_sealed:
        return connection
    status = PlatformStatus.Active if result.refusal is None else PlatformStatus.Broken
    after = connections.change(
        connection,
        {"status": status.value, "last_checked_at": now, "last_error": result.refusal or result.warning},
    )
    if status == PlatformStatus.Broken and connection.status != PlatformStatus.Broken:
        _notify_broken(after, now=now)
    return after


def _notify_broken(connection: PlatformConnection, *, now: datetime) -> None:
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
