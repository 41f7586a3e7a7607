"""A store's web pixel: made when the store is connected, deleted when the connection ends; by one job for both.

The job looks up what is there before it changes anything, so it may come twice, late, or after a lost answer. A failure
leaves the connection as it is: it is shown with it, and the next check tries again. Only live connections have one: a
store that is connected for trying out has real visitors too.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import settings
from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.storefront import shopify_pixel
from domain import jobs
from domain.clicks.attribution_params import Params
from domain.gateways.names import Gateway
from domain.gateways.states import ConnectionStatus
from models.gateways import connections, web_pixels
from models.gateways.connections import GatewayConnection
from models.gateways.web_pixels import WebPixel
from models.organization import organizations
from pipelines import work
from pipelines.credentials import unseal
from pipelines.gateways import accounts

_KEY_BYTES = 18
# How long a pixel that should be gone is asked for where its store is away; then it is let go of.
_DELETED_WITHIN = timedelta(days=7)
# While a store is away.
_AGAIN_AFTER = tuple(timedelta(seconds=s) for s in (10, 60, 300, 1_800, 7_200))
_BEHIND_ANOTHER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class BegunPixel:
    """A pixel that a store is about to be asked for, or asked to delete (`is_to_go`), with all that asking takes.

    `sealed` are the credentials as they are kept.
    """

    pixel: WebPixel
    account: GatewayAccount
    sealed: bytes
    settings: dict[str, str]

    @property
    def is_to_go(self) -> bool:
        """Whether it is to be deleted."""
        return self.pixel.has_ended


@dataclass(frozen=True, slots=True)
class SettledPixel:
    """What a store said: its id of the pixel (None: it is gone), or why not. `is_away`: it said nothing that counts."""

    external_id: str | None = None
    error: str | None = None
    is_away: bool = False


def has_pixel(connection: GatewayConnection) -> bool:
    """Say whether a connection is one whose store has a pixel of ours."""
    return connection.gateway == Gateway.Shopify and connection.mode == "live"


def stage(connection: GatewayConnection, *, now: datetime) -> None:
    """Stage that the store of a connection in force has its pixel as it should be, whatever is there."""
    if not has_pixel(connection):
        return
    web_pixels.stage(
        organization_id=connection.organization_id,
        connection_id=connection.id,
        account=connection.account,
        public_key=f"px_{secrets.token_urlsafe(_KEY_BYTES)}",
        at=now,
    )
    _enqueue(connection.organization_id, connection.id)


def enqueue_for(organization_id: UUID, *, now: datetime) -> None:
    """Ask for it for every connection of an organization: its parameters changed. Budget: 1 round trip."""
    for connection in connections.list_in_force(organization_id):
        stage(connection, now=now)


def stage_end(connection: GatewayConnection, *, now: datetime) -> None:
    """Stage that a connection that ends in this transaction loses its pixel; before its credentials are forgotten."""
    if has_pixel(connection):
        web_pixels.stage_ending(organization_id=connection.organization_id, connection_id=connection.id, at=now)
        _enqueue(connection.organization_id, connection.id)


def prepare(*, organization_id: UUID, connection_id: UUID, now: datetime) -> BegunPixel | None:
    """Return what a store is to be asked; None where nothing is left to do.

    Raises TryAgain while an earlier pixel at the same store is being deleted.
    """
    pixel = web_pixels.lock(organization_id=organization_id, connection_id=connection_id)
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if pixel is None or connection is None or pixel.state == "ended":
        return None
    if pixel.credentials_sealed is not None:
        account = GatewayAccount("live", unseal(pixel.credentials_sealed, connection.id))
        return BegunPixel(pixel, account, pixel.credentials_sealed, {})
    if connection.status == ConnectionStatus.Disconnected:
        return None
    if web_pixels.is_ending(organization_id=organization_id, account=pixel.account):
        raise work.TryAgain(at=now + _BEHIND_ANOTHER, why="an earlier pixel of the store is being deleted")
    account = accounts.of(connection, now=now)
    return BegunPixel(pixel, account, connection.credentials_sealed, _wanted(pixel))


def settle(begun: BegunPixel) -> SettledPixel:
    """Have the pixel at the store, or have it gone. Calls the gateway."""
    try:
        if begun.is_to_go:
            shopify_pixel.remove(begun.account, begun.pixel.public_key)
            return SettledPixel()
        return SettledPixel(shopify_pixel.settle(begun.account, begun.settings))
    except (CredentialsRefused, GatewayRejected) as error:
        return SettledPixel(error=str(error))
    except GatewayUnreachable as error:
        return SettledPixel(error=str(error), is_away=True)


def record(begun: BegunPixel, said: SettledPixel, *, now: datetime) -> datetime | None:
    """Write what the store said; return when to ask again, None when that is done."""
    pixel = web_pixels.lock(organization_id=begun.pixel.organization_id, connection_id=begun.pixel.id)
    assert pixel is not None  # pixels are never deleted
    if begun.is_to_go:
        return _record_end(pixel, said, now)
    if pixel.has_ended:
        # The connection ended while its store was asked. Who deletes it may have looked before it was there.
        web_pixels.change(pixel, {"state": "ending", "credentials_sealed": begun.sealed})
        _enqueue(pixel.organization_id, pixel.id)
        return None
    if said.external_id is not None:
        web_pixels.stage_public_key(pixel)
        web_pixels.change(pixel, {"state": "active", "external_id": said.external_id, "error": None, "settled_at": now})
        return None
    if not (said.is_away and pixel.state == "active"):  # what was there is there still, as far as anybody knows
        web_pixels.change(pixel, {"state": "failed", "error": said.error})
    return _again_at(pixel.settled_at or pixel.wanted_at, now) if said.is_away else None


def _record_end(pixel: WebPixel, said: SettledPixel, now: datetime) -> datetime | None:
    assert pixel.ended_at is not None  # it is to go
    # A store that lets us in no more has deleted it with our app, or nobody can.
    if said.is_away and now - pixel.ended_at < _DELETED_WITHIN:
        return _again_at(pixel.ended_at, now)
    web_pixels.change(pixel, {"state": "ended", "credentials_sealed": None, "error": said.error})
    return None


def _wanted(pixel: WebPixel) -> dict[str, str]:
    organization = organizations.find(pixel.organization_id)
    assert organization is not None  # the pixel belongs to it
    return {
        shopify_pixel.ACCOUNT: pixel.public_key,
        "endpoint": settings.current().web.url,
        "params": ",".join(Params(organization.attribution_params).effective_order),
    }


def _again_at(since: datetime, now: datetime) -> datetime:
    waited = now - since
    return now + next((step for step in _AGAIN_AFTER if waited < 4 * step), _AGAIN_AFTER[-1])


def _enqueue(organization_id: UUID, connection_id: UUID) -> None:
    work.enqueue(jobs.WEB_PIXEL_SETTLE, organization_id=organization_id, connection_id=connection_id)
