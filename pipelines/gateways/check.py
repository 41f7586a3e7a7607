"""Whether gateways still take the credentials of their connections, and what becomes of one that is refused.

Who refuses puts a connection in doubt; who still refuses an hour later breaks it. Its events come in all the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.gateways import registry
from adapters.gateways.base import CredentialsRefused, GatewayRejected, GatewayUnreachable
from domain import jobs
from domain.gateways.facts import UnreadableEvent
from domain.gateways.states import ConnectionStatus
from domain.refusals import Refused
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from pipelines import work
from pipelines.gateways import accounts, connect, letters, web_pixel

#: How long a gateway has to refuse the credentials until a connection is Broken.
BROKEN_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Look:
    """What a gateway said to the credentials: None, or its words against them."""

    refusal: str | None
    is_answered: bool = True


def any_org_start() -> None:
    """Stage a check of every connection in doubt; Broken ones too, which may have been mended at the gateway."""
    for connection in connections.any_org_in_doubt():
        work.enqueue(jobs.GATEWAY_CHECK, organization_id=connection.organization_id, connection_id=connection.id)


def prepare(*, organization_id: UUID, connection_id: UUID) -> GatewayConnection | None:
    """Return a connection that is to be checked; None for one that ended."""
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if connection is None or connection.status == ConnectionStatus.Disconnected:
        return None
    return connection


def look(connection: GatewayConnection, *, now: datetime) -> str | None:
    """Ask the gateway whether it takes the credentials of a connection: None, or its words against them. Calls it.

    Raises Refused 503 gateway_unreachable.
    """
    adapter = registry.named(connection.gateway)
    account = accounts.of(connection, now=now)
    try:
        connect.checked(adapter, account)
    except (CredentialsRefused, GatewayRejected) as error:
        return str(error)
    except (GatewayUnreachable, UnreadableEvent) as error:
        raise connect.away(adapter, error) from error
    return None


def try_look(connection: GatewayConnection, *, now: datetime) -> Look:
    """Do as `look`; a gateway that is away has said nothing. Calls it."""
    try:
        return Look(look(connection, now=now))
    except Refused:
        return Look(None, is_answered=False)


def note(asked: GatewayConnection, refusal: str | None, *, now: datetime) -> GatewayConnection:
    """Write what a check of a connection as it was found, and return it as it is now.

    Credentials that were taken mend a Broken connection, refused ones break it after an hour, and its Owners are told.
    A connection that ended in the meantime stays ended, and nothing is said of credentials that were replaced.
    """
    connection = connections.lock(organization_id=asked.organization_id, connection_id=asked.id)
    assert connection is not None  # connections are never deleted
    is_same = connection.credentials_sealed == asked.credentials_sealed
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
    if is_broken and connection.status != ConnectionStatus.Broken:
        letters.write_broken(after, now=now)
    if refusal is None and connection.refused_at is not None:
        inbox.stage_go_on(organization_id=after.organization_id, connection_id=after.id)
    if refusal is None:
        web_pixel.stage(after, now=now)
    return after
