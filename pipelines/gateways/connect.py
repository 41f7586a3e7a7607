"""Connects a gateway, changes its credentials, disconnects it.

The gateway is called before anything is written, outside of any transaction; its webhooks are deleted again when the
connection cannot be written after all. Source: tracking spec, section 7 (`<connection>_connect_active`).
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
from adapters.secret_key import sealing
from domain.gateways import scopes
from domain.gateways.facts import UnreadableEvent
from domain.gateways.states import ConnectionStatus
from domain.refusals import Refused
from models import advisory_locks, ids
from models.gateways import connections, inbox
from models.gateways.connections import GatewayConnection
from pipelines.credentials import seal, validate
from pipelines.gateways import accounts, web_pixel

_TOKEN_BYTES = 32

Answer = TypeVar("Answer")

# Adapters store the ids of the webhooks that they created under this key, separated by spaces.
_WEBHOOKS = "webhooks"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class VerifiedConnection:
    """Credentials that a gateway accepted, with the webhooks created there; not written yet.

    `identity` identifies the account, where the gateway returns that; `is_test_connection`: the connection is in
    test mode, and the gateway does not say whether the account is.
    """

    connection_id: UUID
    gateway: GatewayAdapter
    account: GatewayAccount
    name: str
    token: str
    setup: Setup
    identity: tuple[str, ...] = ()
    is_test_connection: bool = False


def verify(*, gateway: str, mode: Mode, credentials: Mapping[str, str]) -> VerifiedConnection:
    """Verify the credentials at the gateway and subscribe a new URL to its events. Calls the gateway.

    Raises Refused: 400 unknown_gateway, invalid_request; 422 gateway_credentials_refused; 503 gateway_unreachable.
    """
    adapter = _adapter(gateway)
    credentials = validate(adapter.label, adapter.fields, credentials, is_whole=True)
    connection_id, token = ids.new_id(), secrets.token_urlsafe(_TOKEN_BYTES)
    account = GatewayAccount(mode, credentials)
    verified = _call_gateway(adapter, lambda: check_account(adapter, account))
    subscription = _call_gateway(adapter, lambda: adapter.subscribe(account, build_event_url(gateway, token)))
    account = GatewayAccount(mode, credentials, subscription.made)
    is_test_connection = mode == "test" and verified.is_live is None
    return VerifiedConnection(
        connection_id,
        adapter,
        account,
        verified.account,
        token,
        subscription.setup,
        verified.identity,
        is_test_connection,
    )


def undo_subscription(verified: VerifiedConnection) -> None:
    """Delete the webhooks that `verify` created at the gateway; failures are only logged. Calls the gateway."""
    try:
        verified.gateway.unsubscribe(verified.account)
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable) as error:
        _log.warning("gateway.not_taken_back", gateway=verified.gateway.name, why=str(error))


def store(verified: VerifiedConnection, *, organization_id: UUID, now: datetime) -> GatewayConnection:
    """Insert a verified connection. Raises Refused 409 gateway_already_connected."""
    gateway, mode = verified.gateway.name, verified.account.mode
    advisory_locks.stage_gateway_connections_lock(organization_id)
    id_prefix = scopes.prefix(
        verified.identity,
        connections.list_accounts(organization_id=organization_id, gateway=gateway, mode=mode),
        own_ids=verified.gateway.capabilities.own_ids,
        is_test_connection=verified.is_test_connection,
    )
    is_new = connections.insert(
        {
            "id": verified.connection_id,
            "organization_id": organization_id,
            "gateway": gateway,
            "mode": mode,
            "status": ConnectionStatus.Active.value,
            "account": verified.name,
            "token_hash": hash_token(verified.token),
            "token_sealed": sealing.seal(verified.token, belongs_to=str(verified.connection_id)),
            "credentials_sealed": seal(verified.account.credentials, verified.connection_id),
            "made_sealed": seal(verified.account.made, verified.connection_id),
            "connected_at": now,
            "last_checked_at": now,
            "reconciled_to": now,
            "identity": list(verified.identity),
            "id_prefix": id_prefix,
        }
    )
    if not is_new:
        raise already_connected_refusal(gateway, mode)
    connections.stage_live_names(organization_id)
    connection = connections.find(organization_id=organization_id, connection_id=verified.connection_id)
    assert connection is not None  # it was just inserted
    web_pixel.stage(connection, now=now)
    return connection


def check_not_connected(*, organization_id: UUID, gateway: str, mode: Mode) -> None:
    """Raise Refused 409 gateway_already_connected where there is a connection. Called before the gateway is."""
    if connections.find_in_force(organization_id=organization_id, gateway=gateway, mode=mode):
        raise already_connected_refusal(gateway, mode)


def already_connected_refusal(gateway: str, mode: str) -> Refused:
    """Return the refusal of a second connection."""
    return Refused(
        409,
        "gateway_already_connected",
        f"{gateway} is connected in {mode} mode already; change that connection's credentials, or disconnect it first.",
    )


@dataclass(frozen=True, slots=True)
class VerifiedCredentials:
    """Credentials that the gateway accepted; `made` are webhooks that had to be created again, None where none had.

    `setup` is what the brand still has to do where webhooks are created by hand.
    """

    credentials: Mapping[str, str]
    made: Mapping[str, str] | None = None
    setup: Setup = field(default_factory=Setup)


def verify_changes(
    connection: GatewayConnection, credentials: Mapping[str, str], *, now: datetime
) -> VerifiedCredentials:
    """Verify new values for some of a connection's credentials and return them as they are stored.

    Calls the gateway. Raises Refused as `verify`.
    """
    adapter = registry.get(connection.gateway)
    credentials = validate(adapter.label, adapter.fields, credentials, is_whole=False)
    before = accounts.open_account(connection, now=now)
    owner = adapter.capabilities.webhooks_belong_to
    is_other_app = owner is not None and credentials.get(owner, "") not in ("", before.credentials.get(owner))
    if is_other_app:  # optional credentials of the former app do not belong to the new one
        optional = {field.name for field in adapter.fields if not field.required}
        credentials = dict.fromkeys(optional & before.credentials.keys(), "") | credentials
    account = GatewayAccount(before.mode, {**before.credentials, **credentials}, before.made)
    verified = _call_gateway(adapter, lambda: check_account(adapter, account))
    if connection.identity and verified.identity and verified.identity != tuple(connection.identity):
        raise _other_account_refusal(adapter, connection)
    if not is_other_app:
        return VerifiedCredentials(credentials)
    subscription = _call_gateway(adapter, lambda: adapter.subscribe(account, event_url_of(connection)))
    return VerifiedCredentials(credentials, subscription.made, subscription.setup)


def rotate(connection: GatewayConnection, verified: VerifiedCredentials, *, now: datetime) -> GatewayConnection:
    """Store verified credentials; proofs made with the replaced ones still count for an hour."""
    before, credentials = accounts.open_account(connection, now=now), verified.credentials
    former = {**before.made, **before.credentials}
    for earlier in before.former:
        former |= {name: value for name, value in earlier.items() if name not in credentials}
    after = connections.update(
        organization_id=connection.organization_id,
        connection_id=connection.id,
        changes={
            "credentials_sealed": seal({**before.credentials, **credentials}, connection.id),
            "made_sealed": seal(before.made if verified.made is None else verified.made, connection.id),
            "former_sealed": seal(former, connection.id),
            "former_until": now + accounts.FORMER_FOR,
            "status": ConnectionStatus.Active.value,
            "last_checked_at": now,
            "last_error": None,
            "refused_at": None,
        },
    )
    assert after is not None  # it is locked
    inbox.stage_resume(organization_id=after.organization_id, connection_id=after.id)
    web_pixel.stage(after, now=now)
    return after


def disconnect_on_event(read_connection: GatewayConnection, *, event_at: datetime, now: datetime) -> bool:
    """End a connection whose gateway reported that it revoked our access; return whether that changed anything.

    Nothing changes where the connection has ended, or where its credentials were replaced after the event.
    """
    connection = connections.lock(organization_id=read_connection.organization_id, connection_id=read_connection.id)
    assert connection is not None  # connections are never deleted
    rotated_at = connection.former_until and connection.former_until - accounts.FORMER_FOR
    if connection.status == ConnectionStatus.Disconnected or (rotated_at and rotated_at > event_at):
        return False
    disconnect(connection, now=now)
    return True


def disconnect(connection: GatewayConnection, *, now: datetime) -> GatewayConnection:
    """End a locked connection: its URL receives nothing any more, and its credentials are deleted."""
    advisory_locks.stage_gateway_connections_lock(connection.organization_id)
    web_pixel.stage_end(connection, now=now)
    after = connections.update(
        organization_id=connection.organization_id,
        connection_id=connection.id,
        changes={
            "status": ConnectionStatus.Disconnected.value,
            "disconnected_at": now,
            "credentials_sealed": seal({}, connection.id),
            "made_sealed": seal({}, connection.id),
            "former_sealed": None,
            "former_until": None,
        },
    )
    assert after is not None  # it is locked
    connections.stage_live_names(connection.organization_id)
    return after


def unsubscribe(connection: GatewayConnection, account: GatewayAccount) -> None:
    """Delete our webhooks at the gateway of a connection that ended; failures are only logged. Calls it."""
    adapter = registry.get(connection.gateway)
    try:
        adapter.unsubscribe(account)
    except (CredentialsRefused, GatewayRejected, GatewayUnreachable) as error:
        _log.warning("gateway.not_taken_back", gateway=connection.gateway, why=str(error))


def unsubscribe_replaced(connection: GatewayConnection, former: GatewayAccount, *, made: Mapping[str, str]) -> None:
    """Delete former webhooks at the gateway that are not in `made`. Failures are only logged. Calls it."""
    current = made.get(_WEBHOOKS, "").split()
    obsolete = [hook for hook in former.made.get(_WEBHOOKS, "").split() if hook not in current]
    if obsolete:
        unsubscribe(connection, replace(former, made={**former.made, _WEBHOOKS: " ".join(obsolete)}))


def build_event_url(gateway: str, token: str) -> str:
    """Return the URL that a gateway sends the events of one connection to."""
    return f"{settings.current().web.url}/api/gateways/{gateway}/{token}"


def event_url_of(connection: GatewayConnection) -> str:
    """Return the event URL of a connection."""
    return build_event_url(connection.gateway, sealing.unseal(connection.token_sealed, belongs_to=str(connection.id)))


def hash_token(token: str) -> bytes:
    """Return the hash that a token is looked up by."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _adapter(gateway: str) -> GatewayAdapter:
    adapter = registry.find(gateway)
    if adapter is None:
        raise Refused(
            400, "unknown_gateway", "GET /api/v1/connections/gateways lists the gateways there are.", field="gateway"
        )
    return adapter


def check_account(adapter: GatewayAdapter, account: GatewayAccount) -> Known:
    """Verify the credentials at the gateway, and that they are of this mode. Raises as the adapter's `check`."""
    verified = adapter.check(account)
    if verified.is_live is not None and verified.is_live != (account.mode == "live"):
        mode, other = ("test", "live") if verified.is_live else ("live", "test")
        raise CredentialsRefused(f"they are of {other} mode, and the connection is of {mode} mode")
    return verified


def _other_account_refusal(adapter: GatewayAdapter, connection: GatewayConnection) -> Refused:
    message = (
        f"These credentials belong to another {adapter.label} account than {connection.account}, which is"
        " connected. Disconnect it and connect the other one."
    )
    return Refused(422, "gateway_credentials_refused", message)


def _call_gateway(adapter: GatewayAdapter, call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except CredentialsRefused as error:
        message = f"{adapter.label} does not accept these credentials: {error}"
        raise Refused(422, "gateway_credentials_refused", message) from error
    except GatewayRejected as error:
        raise Refused(422, "gateway_credentials_refused", f"{adapter.label} refused the request: {error}") from error
    except (GatewayUnreachable, UnreadableEvent) as error:
        raise unreachable_refusal(adapter, error) from error


def unreachable_refusal(adapter: GatewayAdapter, error: Exception) -> Refused:
    """Return the refusal of an operation whose gateway cannot be reached."""
    message = f"{adapter.label} cannot be reached now ({error}). Nothing was changed. Try again."
    return Refused(503, "gateway_unreachable", message)
