"""What was missed comes in: payments and refunds are listed at the gateway and taken through the same inbox.

A page is one step: it is listed outside of any transaction, and what is new of it is kept in one. A run that was
interrupted begins anew; what is known changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters.gateways import registry
from adapters.gateways.base import CredentialsRefused, GatewayDelivery, GatewayRejected, GatewayUnreachable
from domain import jobs
from domain.gateways.facts import UnreadableEvent
from domain.gateways.states import ConnectionStatus
from models.gateways import connections, inbox, payments
from models.gateways.connections import GatewayConnection
from pipelines import work
from pipelines.gateways import accounts, check, receive

#: How far behind the last good time a run begins, for what the gateway lists late.
OVERLAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ReconcileRun:
    """One run for one connection: since when it lists, and when it began."""

    connection: GatewayConnection
    since: datetime
    began_at: datetime


@dataclass(slots=True)
class ReconcileFound:
    """How many payments and refunds were listed, how many were new, and why the run ended early if it did:

    the gateway refused the credentials, said no to something, or was away.
    """

    listed: int = 0
    new: int = 0
    refusal: str | None = None
    error: str | None = None
    away: str | None = None


def any_org_start(*, only_polled: bool) -> None:
    """Stage a run for every connection in force; `only_polled`: of gateways that do not tell everything."""
    polled = tuple(adapter.name for adapter in registry.all_of_them() if adapter.polls)
    for connection in connections.any_org_list_idle(polled if only_polled else ()):
        if not only_polled or polled:
            work.enqueue(
                jobs.GATEWAY_RECONCILE, organization_id=connection.organization_id, connection_id=connection.id
            )


def ask(connection: GatewayConnection, *, since: datetime | None) -> int:
    """Ask for a run for one connection, and return the number of its job."""
    when = {"since": since.isoformat()} if since else {}
    return work.enqueue_with_id(
        jobs.GATEWAY_RECONCILE, organization_id=connection.organization_id, connection_id=connection.id, **when
    )


def prepare(
    *, organization_id: UUID, connection_id: UUID, since: datetime | None, now: datetime
) -> ReconcileRun | None:
    """Return a run since a moment, by default since an hour before the last good one; None for an ended connection."""
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if connection is None or connection.status == ConnectionStatus.Disconnected:
        return None
    return ReconcileRun(connection, since or _good_until(connection) - OVERLAP, now)


def pages(run: ReconcileRun, found: ReconcileFound) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield what the gateway lists, page by page, and note in `found` why it ended early. Calls the gateway."""
    adapter = registry.get(run.connection.gateway)
    account = accounts.of(run.connection, now=run.began_at)
    try:
        yield from adapter.list_payments(account, run.since)
    except CredentialsRefused as error:
        found.refusal = str(error)
    except (GatewayRejected, UnreadableEvent) as error:
        found.error = str(error)
    except GatewayUnreachable as error:
        found.away = str(error)


def take(run: ReconcileRun, page: Sequence[GatewayDelivery], found: ReconcileFound, *, now: datetime) -> None:
    """Keep what of a page is not known, with the jobs that work on it; nothing once the connection has ended.

    Budget: 2 statements, whatever is in it.
    """
    connection = run.connection
    known = payments.find_known_ids(
        organization_id=connection.organization_id,
        gateway=connection.gateway,
        ids=[connection.id_prefix + receive.external_id(delivery) for delivery in page],
    )
    unknown = [
        receive.arrived(delivery)
        for delivery in page
        if connection.id_prefix + receive.external_id(delivery) not in known
    ]
    found.new += inbox.insert_new(
        unknown, organization_id=connection.organization_id, connection_id=connection.id, now=now
    )
    found.listed += len(page)


def finish(run: ReconcileRun, found: ReconcileFound, *, now: datetime) -> datetime | None:
    """Write how a run ended; return when to try again where the gateway was away."""
    if found.away is not None:
        return now + timedelta(minutes=10)
    connection = check.note(run.connection, found.refusal, now=now)
    if found.refusal is not None:
        return None
    changes: dict[str, object] = {"last_error": found.error} if found.error else {}
    # Else what lies between would never be listed; a run that froze may end after one that began later.
    if not found.error and run.since <= _good_until(connection) < run.began_at:
        changes["reconciled_to"] = run.began_at
    if changes:
        connections.update(organization_id=connection.organization_id, connection_id=connection.id, changes=changes)
    return None


def _good_until(connection: GatewayConnection) -> datetime:
    return connection.reconciled_to or connection.connected_at
