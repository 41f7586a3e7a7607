"""Fetches missed events: lists payments and refunds at the gateway and puts them into the same inbox.

A page is one step: it is listed outside of any transaction, and its new entries are stored in one. An interrupted run
starts again; entries that are stored already change nothing.
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

#: How long before the end of the last complete run a run starts, for payments that the gateway lists late.
OVERLAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ReconcileRun:
    """One run for one connection: the time since which it lists, and when it started."""

    connection: GatewayConnection
    since: datetime
    started_at: datetime


@dataclass(slots=True)
class ReconcileResult:
    """How many payments and refunds were listed, how many were new, and why the run ended early if it did.

    The reasons: the gateway refused the credentials (`refusal`), rejected a request (`error`) or was unreachable
    (`unreachable_reason`).
    """

    listed: int = 0
    new: int = 0
    refusal: str | None = None
    error: str | None = None
    unreachable_reason: str | None = None


def any_org_start(*, only_polled: bool) -> None:
    """Stage a run for every connection in force; `only_polled`: of gateways that do not send every event."""
    polled = tuple(adapter.name for adapter in registry.all_of_them() if adapter.polls)
    for connection in connections.any_org_list_idle(polled if only_polled else ()):
        if not only_polled or polled:
            work.enqueue(
                jobs.GATEWAY_RECONCILE, organization_id=connection.organization_id, connection_id=connection.id
            )


def enqueue_run(connection: GatewayConnection, *, since: datetime | None) -> int:
    """Enqueue a run for one connection, and return the number of its job."""
    since_arg = {"since": since.isoformat()} if since else {}
    return work.enqueue_with_id(
        jobs.GATEWAY_RECONCILE, organization_id=connection.organization_id, connection_id=connection.id, **since_arg
    )


def prepare(
    *, organization_id: UUID, connection_id: UUID, since: datetime | None, now: datetime
) -> ReconcileRun | None:
    """Return a run since a time, by default an hour before the last complete one; None for an ended connection."""
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if connection is None or connection.status == ConnectionStatus.Disconnected:
        return None
    return ReconcileRun(connection, since or _complete_until(connection) - OVERLAP, now)


def list_pages(run: ReconcileRun, result: ReconcileResult) -> Iterator[Sequence[GatewayDelivery]]:
    """Yield the gateway's list page by page, and write into the result why it ended early. Calls the gateway."""
    adapter = registry.get(run.connection.gateway)
    account = accounts.open_account(run.connection, now=run.started_at)
    try:
        yield from adapter.list_payments(account, run.since)
    except CredentialsRefused as error:
        result.refusal = str(error)
    except (GatewayRejected, UnreadableEvent) as error:
        result.error = str(error)
    except GatewayUnreachable as error:
        result.unreachable_reason = str(error)


def store_page(run: ReconcileRun, page: Sequence[GatewayDelivery], result: ReconcileResult, *, now: datetime) -> None:
    """Store the new entries of a page, with the jobs that process them; nothing once the connection has ended.

    Budget: 2 statements, whatever is in it.
    """
    connection = run.connection
    known_ids = payments.find_known_ids(
        organization_id=connection.organization_id,
        gateway=connection.gateway,
        ids=[connection.id_prefix + receive.external_id_of(delivery) for delivery in page],
    )
    new_events = [
        receive.event_from_delivery(delivery)
        for delivery in page
        if connection.id_prefix + receive.external_id_of(delivery) not in known_ids
    ]
    result.new += inbox.insert_new(
        new_events, organization_id=connection.organization_id, connection_id=connection.id, now=now
    )
    result.listed += len(page)


def finish(run: ReconcileRun, result: ReconcileResult, *, now: datetime) -> datetime | None:
    """Store how a run ended; return when to try again where the gateway was unreachable."""
    if result.unreachable_reason is not None:
        return now + timedelta(minutes=10)
    connection = check.record(run.connection, result.refusal, now=now)
    if result.refusal is not None:
        return None
    changes: dict[str, object] = {"last_error": result.error} if result.error else {}
    # Otherwise a gap would never be listed: a run that hung may end after one that started later.
    if not result.error and run.since <= _complete_until(connection) < run.started_at:
        changes["reconciled_to"] = run.started_at
    if changes:
        connections.update(organization_id=connection.organization_id, connection_id=connection.id, changes=changes)
    return None


def _complete_until(connection: GatewayConnection) -> datetime:
    return connection.reconciled_to or connection.connected_at
