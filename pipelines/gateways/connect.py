"""Connecting a gateway, changing its credentials, disconnecting it.

The gateway is asked before anything is written, outside of any transaction; what was made there is taken back when
the connection cannot be written after all. Source: tracking spec, section 7 (`<connection>_connect_active`).
"""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import structlog

import settings
from adapters import sealing
from adapters.gateways import registry
from adapters.gateways.adapter import GatewayAdapter
from adapters.gateways.base import (
    CredentialsRefused,
    GatewayAccount,
    GatewayRejected,
    GatewayUnreachable,
    Known,
    Mode,
    Setup,
)
from domain.gateways import scopes
from domain.gateways.facts import UnreadableEvent
from domain.gateways.states import ConnectionStatus
from domain.refusals import Refused
from models import advisory_locks, ids
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from pipelines.credentials import sealed, typed
from pipelines.gateways import accounts, web_pixel

_TOKEN_BYTES = 32

Answer = TypeVar("Answer")

# What adapters store the ids of the webhooks under that they made, with spaces in between.
_WEBHOOKS = "webhooks"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProvedConnection:
    """Credentials that a gateway took, and what it has been asked to send us; nothing of it is written yet.

    `identity` is whose account it is, where that is told; `is_rehearsed` says that it is for trying out, though the
    account is not.
    """

    connection_id: UUID
    gateway: GatewayAdapter
    account: GatewayAccount
    name: str
    token: str
    setup: Setup
    identity: tuple[str, ...] = ()
    is_rehearsed: bool = False


def prove(*, gateway: str, mode: Mode, credentials: Mapping[str, str]) -> ProvedConnection:
    """Try the credentials at the gateway, and have its events sent to a new address. Calls the gateway.

    Raises Refused: 400 unknown_gateway, invalid_request; 422 gateway_credentials_refused; 503 gateway_unreachable.
    """
    adapter = _adapter(gateway)
    credentials = typed(adapter.label, adapter.fields, credentials, is_whole=True)
    connection_id, token = ids.new_id(), secrets.token_urlsafe(_TOKEN_BYTES)
    account = GatewayAccount(mode, credentials)
    known = _asked(adapter, lambda: checked(adapter, account))
    subscribed = _asked(adapter, lambda: adapter.subscribe(account, address(gateway, token)))
    account = GatewayAccount(mode, credentials, subscribed.made)
    is_rehearsed = mode == "test" and known.is_live is None
    return ProvedConnection(
        connection_id, adapter, account, known.account, token, subscribed.setup, known.identity, is_rehearsed
    )


def take_back(proved: ProvedConnection) -> None:
    """Undo at the gateway what `prove` made there; what fails is only logged. Calls the gateway."""
    try:
        proved.gateway.unsubscribe(proved.account)
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable) as error:
        _log.warning("gateway.not_taken_back", gateway=proved.gateway.name, why=str(error))


def store(proved: ProvedConnection, *, organization_id: UUID, now: datetime) -> GatewayConnection:
    """Write a connection that was proved. Raises Refused 409 gateway_already_connected."""
    gateway, mode = proved.gateway.name, proved.account.mode
    advisory_locks.stage_gateway_connections_lock(organization_id)
    id_prefix = scopes.prefix(
        proved.identity,
        connections.accounts(organization_id=organization_id, gateway=gateway, mode=mode),
        own_ids=proved.gateway.capabilities.own_ids,
        is_test_connection=proved.is_rehearsed,
    )
    is_new = connections.insert(
        {
            "id": proved.connection_id,
            "organization_id": organization_id,
            "gateway": gateway,
            "mode": mode,
            "status": ConnectionStatus.Active.value,
            "account": proved.name,
            "token_hash": token_hash(proved.token),
            "token_sealed": sealing.seal(proved.token, belongs_to=str(proved.connection_id)),
            "credentials_sealed": sealed(proved.account.credentials, proved.connection_id),
            "made_sealed": sealed(proved.account.made, proved.connection_id),
            "connected_at": now,
            "last_checked_at": now,
            "reconciled_to": now,
            "identity": list(proved.identity),
            "id_prefix": id_prefix,
        }
    )
    if not is_new:
        raise already_connected(gateway, mode)
    connections.stage_live(organization_id)
    made = connections.find(organization_id=organization_id, connection_id=proved.connection_id)
    assert made is not None  # it was just inserted
    web_pixel.stage(made, now=now)
    return made


def refuse_second(*, organization_id: UUID, gateway: str, mode: Mode) -> None:
    """Raise Refused 409 gateway_already_connected where the organization has one, before anybody is asked."""
    if connections.in_force(organization_id=organization_id, gateway=gateway, mode=mode):
        raise already_connected(gateway, mode)


def already_connected(gateway: str, mode: str) -> Refused:
    """Return the refusal of a second connection."""
    return Refused(
        409,
        "gateway_already_connected",
        f"{gateway} is connected in {mode} mode already; change that connection's credentials, or disconnect it first.",
    )


@dataclass(frozen=True, slots=True)
class TriedCredentials:
    """Credentials that the gateway took; `made` are webhooks that had to be created again, None where none had.

    `setup` is what is left for the brand to do, where its webhooks are made by hand.
    """

    credentials: Mapping[str, str]
    made: Mapping[str, str] | None = None
    setup: Setup = field(default_factory=Setup)


def changed(connection: GatewayConnection, credentials: Mapping[str, str], *, now: datetime) -> TriedCredentials:
    """Try some credentials in place of those that a connection has, and return them as they are stored.

    Calls the gateway. Raises Refused as `prove`.
    """
    adapter = registry.named(connection.gateway)
    credentials = typed(adapter.label, adapter.fields, credentials, is_whole=False)
    before = accounts.of(connection, now=now)
    owner = adapter.capabilities.webhooks_belong_to
    is_other_app = owner is not None and credentials.get(owner, "") not in ("", before.credentials.get(owner))
    if is_other_app:  # what the former app could be left without is not the other one's
        optional = {field.name for field in adapter.fields if not field.required}
        credentials = dict.fromkeys(optional & before.credentials.keys(), "") | credentials
    account = GatewayAccount(before.mode, {**before.credentials, **credentials}, before.made)
    known = _asked(adapter, lambda: checked(adapter, account))
    # An earlier release stored more of it for some gateways.
    if connection.identity and known.identity and known.identity != tuple(connection.identity)[: len(known.identity)]:
        raise _of_another(adapter, connection)
    if not is_other_app:
        return TriedCredentials(credentials)
    subscribed = _asked(adapter, lambda: adapter.subscribe(account, address_of(connection)))
    return TriedCredentials(credentials, subscribed.made, subscribed.setup)


def rotate(connection: GatewayConnection, tried: TriedCredentials, *, now: datetime) -> GatewayConnection:
    """Write credentials that were tried; proofs by those that they replace count for an hour more."""
    before, credentials = accounts.of(connection, now=now), tried.credentials
    former = {**before.made, **before.credentials}
    for earlier in before.former:
        former |= {name: value for name, value in earlier.items() if name not in credentials}
    after = connections.update(
        organization_id=connection.organization_id,
        connection_id=connection.id,
        changes={
            "credentials_sealed": sealed({**before.credentials, **credentials}, connection.id),
            "made_sealed": sealed(before.made if tried.made is None else tried.made, connection.id),
            "former_sealed": sealed(former, connection.id),
            "former_until": now + accounts.FORMER_FOR,
            "status": ConnectionStatus.Active.value,
            "last_checked_at": now,
            "last_error": None,
            "refused_at": None,
        },
    )
    assert after is not None  # it is locked
    inbox.stage_go_on(organization_id=after.organization_id, connection_id=after.id)
    web_pixel.stage(after, now=now)
    return after


def disconnect_if_told(known: GatewayConnection, *, told_at: datetime, now: datetime) -> bool:
    """End a connection whose gateway told that it lets us in no more; False where that is no news.

    It is none of a connection that ended, nor where an Owner gave other credentials since, which the gateway took.
    """
    connection = connections.lock(organization_id=known.organization_id, connection_id=known.id)
    assert connection is not None  # connections are never deleted
    rotated_at = connection.former_until and connection.former_until - accounts.FORMER_FOR
    if connection.status == ConnectionStatus.Disconnected or (rotated_at and rotated_at > told_at):
        return False
    disconnect(connection, now=now)
    return True


def disconnect(connection: GatewayConnection, *, now: datetime) -> GatewayConnection:
    """Write that a connection, which is locked, ended: its address leads nowhere, its credentials are forgotten."""
    advisory_locks.stage_gateway_connections_lock(connection.organization_id)
    web_pixel.stage_end(connection, now=now)
    after = connections.update(
        organization_id=connection.organization_id,
        connection_id=connection.id,
        changes={
            "status": ConnectionStatus.Disconnected.value,
            "disconnected_at": now,
            "credentials_sealed": sealed({}, connection.id),
            "made_sealed": sealed({}, connection.id),
            "former_sealed": None,
            "former_until": None,
        },
    )
    assert after is not None  # it is locked
    connections.stage_live(connection.organization_id)
    return after


def unsubscribe(connection: GatewayConnection, account: GatewayAccount) -> None:
    """Take back what we made at the gateway of a connection that ended; what fails is only logged. Calls it."""
    adapter = registry.named(connection.gateway)
    try:
        adapter.unsubscribe(account)
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable) as error:
        _log.warning("gateway.not_taken_back", gateway=connection.gateway, why=str(error))


def unsubscribe_replaced(connection: GatewayConnection, former: GatewayAccount, *, made: Mapping[str, str]) -> None:
    """Take back webhooks that others replaced, but for those that were kept. What fails is only logged. Calls it."""
    kept = made.get(_WEBHOOKS, "").split()
    replaced = [hook for hook in former.made.get(_WEBHOOKS, "").split() if hook not in kept]
    if replaced:
        unsubscribe(connection, replace(former, made={**former.made, _WEBHOOKS: " ".join(replaced)}))


def address(gateway: str, token: str) -> str:
    """Return where a gateway sends the events of one connection."""
    return f"{settings.current().web.url}/api/gateways/{gateway}/{token}"


def address_of(connection: GatewayConnection) -> str:
    """Return the address of a connection."""
    return address(connection.gateway, sealing.unseal(connection.token_sealed, belongs_to=str(connection.id)))


def token_hash(token: str) -> bytes:
    """Return what a token is found by."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _adapter(gateway: str) -> GatewayAdapter:
    found = registry.find(gateway)
    if found is None:
        raise Refused(
            400, "unknown_gateway", "GET /api/v1/connections/gateways lists the gateways there are.", field="gateway"
        )
    return found


def checked(adapter: GatewayAdapter, account: GatewayAccount) -> Known:
    """Prove the credentials at the gateway, and that they are of this mode. Raises as the adapter's `check`."""
    known = adapter.check(account)
    if known.is_live is not None and known.is_live != (account.mode == "live"):
        mode, other = ("test", "live") if known.is_live else ("live", "test")
        raise CredentialsRefused(f"they are of {other} mode, and the connection is of {mode} mode")
    return known


def _of_another(adapter: GatewayAdapter, connection: GatewayConnection) -> Refused:
    message = (
        f"These credentials are of another account of {adapter.label} than {connection.account}, which is"
        " connected. Disconnect it and connect the other one."
    )
    return Refused(422, "gateway_credentials_refused", message)


def _asked(adapter: GatewayAdapter, ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except CredentialsRefused as error:
        message = f"{adapter.label} does not take these credentials: {error}"
        raise Refused(422, "gateway_credentials_refused", message) from error
    except GatewayRejected as error:
        raise Refused(422, "gateway_credentials_refused", f"{adapter.label} says no: {error}") from error
    except (GatewayUnreachable, UnreadableEvent) as error:
        raise away(adapter, error) from error


def away(adapter: GatewayAdapter, error: Exception) -> Refused:
    """Return the refusal of what a gateway is needed for that cannot be reached."""
    message = f"{adapter.label} cannot be reached now ({error}); nothing was changed, try again."
    return Refused(503, "gateway_unreachable", message)
