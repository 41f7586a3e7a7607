"""Checks whether a platform still accepts the credentials of a connection.

A refusal makes the connection Broken at once, and its brand is notified: the platform is not called again until the
connection is repaired.
"""

from dataclasses import dataclass
from datetime import datetime

from adapters.gateways.base import CredentialsRefused
from adapters.platforms import registry
from adapters.platforms.base import PlatformUnreachable
from domain.notifications.kinds import NotificationKind
from domain.platforms.names import PlatformStatus
from models.notifications.feed import NewNotice
from models.organization import organizations
from models.platforms import connections
from models.platforms.connections import PlatformConnection
from pipelines.notifications import notices
from pipelines.platforms import connect


@dataclass(frozen=True, slots=True)
class CredentialCheck:
    """A platform's answer about credentials: its refusal, or a warning about the account that they open."""

    refusal: str | None = None
    warning: str | None = None


def check_credentials(connection: PlatformConnection) -> CredentialCheck:
    """Check whether the platform accepts the credentials of a connection. Calls the platform.

    Raises Refused 503 platform_unreachable.
    """
    adapter = registry.get(connection.platform)
    try:
        return CredentialCheck(warning=adapter.check(connect.account_from_row(connection)))
    except CredentialsRefused as error:
        return CredentialCheck(refusal=str(error))
    except PlatformUnreachable as error:
        raise connect.unreachable_refusal(adapter, error) from error


def record(checked: PlatformConnection, result: CredentialCheck, *, now: datetime) -> PlatformConnection | None:
    """Record the result for a connection, and return the connection after it; None if it has ended.

    A result for credentials that were replaced in the meantime is dropped.
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
        _notify_broken(after)
    return after


def _notify_broken(connection: PlatformConnection) -> None:
    """Stage the notification of a refusal, its effect, and what to do: once until the connection is repaired."""
    organization = organizations.find(connection.organization_id)
    assert organization is not None  # the connection belongs to it
    label = registry.get(connection.platform).label
    detail = (
        f"{label} no longer accepts the credentials of {organization.name}.\n\n"
        f"  {label} says: {connection.last_error}\n\n"
        f"Until it does, sales without an affiliate are not looked up at {label}; they are booked as usual, without an"
        f" affiliate.\n\nCreate new credentials at {label} and enter them in the connection, or check it again"
        f" when {label} accepts the old ones. You get this email once, until the credentials are accepted again."
    )
    notices.stage(
        NewNotice(
            connection.organization_id,
            NotificationKind.ConnectionBroken.value,
            connection.id,
            title=f"Connection broken: {label} refuses your credentials",
            detail=detail,
            path="/dashboard/connections",
        )
    )
