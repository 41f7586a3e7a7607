"""Checks whether gateways still accept the credentials of their connections.

A connection whose gateway still refuses an hour after its first refusal is Broken. Its events are still received.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.gateways import registry
from adapters.gateways.base import CredentialsRefused, GatewayRejected, GatewayUnreachable
from domain import jobs
from domain.gateways.facts import UnreadableEvent
from domain.gateways.states import ConnectionStatus
from domain.notifications.kinds import NotificationKind
from domain.refusals import Refused
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from models.notifications.feed import NewNotice
from models.organization import organizations
from pipelines import work
from pipelines.gateways import accounts, connect, web_pixel
from pipelines.notifications import notices

#: A connection is Broken once its gateway has refused the credentials for this long.
BROKEN_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The gateway's reason for refusing the credentials, None where it accepts them or did not answer."""

    refusal: str | None
    is_answered: bool = True


def any_org_start() -> None:
    """Stage a check of every refused connection, also Broken ones: they may have been fixed at the gateway."""
    for connection in connections.any_org_list_refused():
        work.enqueue(jobs.GATEWAY_CHECK, organization_id=connection.organization_id, connection_id=connection.id)


def prepare(*, organization_id: UUID, connection_id: UUID) -> GatewayConnection | None:
    """Return the connection to check; None for one that ended."""
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if connection is None or connection.status == ConnectionStatus.Disconnected:
        return None
    return connection


def check_credentials(connection: GatewayConnection, *, now: datetime) -> str | None:
    """Return why the gateway refuses the credentials of a connection, None where it accepts them. Calls it.

    Raises Refused 503 gateway_unreachable.
    """
    adapter = registry.get(connection.gateway)
    account = accounts.open_account(connection, now=now)
    try:
        connect.check_account(adapter, account)
    except (CredentialsRefused, GatewayRejected) as error:
        return str(error)
    except (GatewayUnreachable, UnreadableEvent) as error:
        raise connect.unreachable_refusal(adapter, error) from error
    return None


def try_check_credentials(connection: GatewayConnection, *, now: datetime) -> CheckResult:
    """Do as `check_credentials`, with an unanswered result for an unreachable gateway. Calls it."""
    try:
        return CheckResult(check_credentials(connection, now=now))
    except Refused:
        return CheckResult(None, is_answered=False)


def record(checked: GatewayConnection, refusal: str | None, *, now: datetime) -> GatewayConnection:
    """Store the result of a check and return the updated connection. `checked` is the connection as it was checked.

    Accepted credentials make a Broken connection Active. Credentials refused for an hour make it Broken, and its brand
    is notified, unless it is a test connection. Nothing changes where the connection has ended or its credentials were
    replaced since.
    """
    connection = connections.lock(organization_id=checked.organization_id, connection_id=checked.id)
    assert connection is not None  # connections are never deleted
    is_same = connection.credentials_sealed == checked.credentials_sealed
    if connection.status == ConnectionStatus.Disconnected or not is_same:
        return connection
    refused_at = None if refusal is None else connection.refused_at or now
    is_broken = refused_at is not None and now - refused_at >= BROKEN_AFTER
    changes = {
        "last_checked_at": now,
        "last_error": refusal,
        "refused_at": refused_at,
        "status": (ConnectionStatus.Broken if is_broken else ConnectionStatus.Active).value,
    }
    after = connections.update(organization_id=connection.organization_id, connection_id=connection.id, changes=changes)
    assert after is not None  # it is locked
    if is_broken and connection.status != ConnectionStatus.Broken and after.mode == "live":
        _notify_broken(after)
    if refusal is None and connection.refused_at is not None:
        inbox.stage_resume(organization_id=after.organization_id, connection_id=after.id)
    if refusal is None:
        web_pixel.stage(after, now=now)
    return after


def _notify_broken(connection: GatewayConnection) -> None:
    """Stage the notification of a Broken connection: once until the credentials are accepted again."""
    organization = organizations.find(connection.organization_id)
    assert organization is not None  # the connection belongs to it
    label = registry.get(connection.gateway).label
    detail = (
        f"{label} has refused the credentials of {organization.name} for at least an hour.\n\n"
        f"  account: {connection.account}\n"
        f"  {label} says: {connection.last_error}\n\n"
        f"Events that {label} sends are still received. Events that need a look-up there wait, and missed events are"
        f" not fetched.\n\nCreate new credentials at {label} and enter them on the connection's page. Waiting events"
        " are then processed automatically. You get this email once, until the credentials are accepted again."
    )
    notices.stage(
        NewNotice(
            connection.organization_id,
            NotificationKind.ConnectionBroken.value,
            connection.id,
            title=f"Connection broken: {label} refuses your credentials",
            detail=detail,
            path=f"/dashboard/connections/{connection.id}",
        )
    )
