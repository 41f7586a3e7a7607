"""Creates a store's web pixel when the store is connected and deletes it when the connection ends; one job does both.

The job reads the store's pixel before it changes anything, so it may run twice, late, or after a lost answer. A failure
leaves the connection as it is: it is displayed with it, and the next check tries again. Only live connections have a
pixel: a store that is connected in test mode has real visitors too.
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
# How long deleting a pixel is retried while its store is unreachable; then it counts as deleted.
_DELETE_WITHIN = timedelta(days=7)
# While a store is unreachable.
_RETRY_AFTER = tuple(timedelta(seconds=s) for s in (10, 60, 300, 1_800, 7_200))
_BEHIND_ANOTHER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class PreparedPixel:
    """A pixel to create or update at a store, or to delete there (`is_deletion`), with the data that the call needs.

    `sealed` are the credentials as they are stored.
    """

    pixel: WebPixel
    account: GatewayAccount
    sealed: bytes
    settings: dict[str, str]

    @property
    def is_deletion(self) -> bool:
        """Whether the pixel has to be deleted."""
        return self.pixel.has_ended


@dataclass(frozen=True, slots=True)
class PixelAnswer:
    """A store's answer: its id of the pixel (None: deleted), or the error. `is_unreachable`: there was no answer."""

    external_id: str | None = None
    error: str | None = None
    is_unreachable: bool = False


def has_pixel(connection: GatewayConnection) -> bool:
    """Return whether the store of a connection has our pixel: a live Shopify connection."""
    return connection.gateway == Gateway.Shopify and connection.mode == "live"


def stage(connection: GatewayConnection, *, now: datetime) -> None:
    """Stage the job that creates or updates the pixel of a connection in force."""
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


def enqueue_for_organization(organization_id: UUID, *, now: datetime) -> None:
    """Enqueue it for every connection of an organization whose parameters changed. Budget: 1 round trip."""
    for connection in connections.list_in_force(organization_id):
        stage(connection, now=now)


def stage_end(connection: GatewayConnection, *, now: datetime) -> None:
    """Stage deleting the pixel of a connection that ends in this transaction; call it before the credentials go."""
    if has_pixel(connection):
        web_pixels.stage_ending(organization_id=connection.organization_id, connection_id=connection.id, at=now)
        _enqueue(connection.organization_id, connection.id)


def prepare(*, organization_id: UUID, connection_id: UUID, now: datetime) -> PreparedPixel | None:
    """Return the pixel that the store has to be called about; None where nothing is left to do.

    Raises TryAgain while an earlier pixel at the same store is being deleted.
    """
    pixel = web_pixels.lock(organization_id=organization_id, connection_id=connection_id)
    connection = connections.find(organization_id=organization_id, connection_id=connection_id)
    if pixel is None or connection is None or pixel.state == "ended":
        return None
    if pixel.credentials_sealed is not None:
        account = GatewayAccount("live", unseal(pixel.credentials_sealed, connection.id))
        return PreparedPixel(pixel, account, pixel.credentials_sealed, {})
    if connection.status == ConnectionStatus.Disconnected:
        return None
    if web_pixels.is_ending(organization_id=organization_id, account=pixel.account):
        raise work.TryAgain(at=now + _BEHIND_ANOTHER, why="an earlier pixel of the store is being deleted")
    account = accounts.open_account(connection, now=now)
    return PreparedPixel(pixel, account, connection.credentials_sealed, _build_settings(pixel))


def apply(prepared: PreparedPixel) -> PixelAnswer:
    """Create, update or delete the pixel at the store. Calls the gateway."""
    try:
        if prepared.is_deletion:
            shopify_pixel.remove(prepared.account, prepared.pixel.public_key)
            return PixelAnswer()
        return PixelAnswer(shopify_pixel.settle(prepared.account, prepared.settings))
    except (CredentialsRefused, GatewayRejected) as error:
        return PixelAnswer(error=str(error))
    except GatewayUnreachable as error:
        return PixelAnswer(error=str(error), is_unreachable=True)


def record(prepared: PreparedPixel, answer: PixelAnswer, *, now: datetime) -> datetime | None:
    """Store the answer; return when to call the store again, None when it is done."""
    pixel = web_pixels.lock(organization_id=prepared.pixel.organization_id, connection_id=prepared.pixel.id)
    assert pixel is not None  # pixels are never deleted
    if prepared.is_deletion:
        return _record_deletion(pixel, answer, now)
    if pixel.has_ended:
        # The connection ended during the call, and the job that deletes the pixel may have run before it existed.
        web_pixels.change(pixel, {"state": "ending", "credentials_sealed": prepared.sealed})
        _enqueue(pixel.organization_id, pixel.id)
        return None
    if answer.external_id is not None:
        web_pixels.stage_public_key(pixel)
        web_pixels.change(
            pixel, {"state": "active", "external_id": answer.external_id, "error": None, "settled_at": now}
        )
        return None
    if not (answer.is_unreachable and pixel.state == "active"):  # an existing pixel most likely still exists
        web_pixels.change(pixel, {"state": "failed", "error": answer.error})
    return _retry_at(pixel.settled_at or pixel.wanted_at, now) if answer.is_unreachable else None


def _record_deletion(pixel: WebPixel, answer: PixelAnswer, now: datetime) -> datetime | None:
    assert pixel.ended_at is not None  # it has to be deleted
    # A store that refuses our credentials has removed our app, and the pixel with it; else it cannot be deleted at all.
    if answer.is_unreachable and now - pixel.ended_at < _DELETE_WITHIN:
        return _retry_at(pixel.ended_at, now)
    web_pixels.change(pixel, {"state": "ended", "credentials_sealed": None, "error": answer.error})
    return None


def _build_settings(pixel: WebPixel) -> dict[str, str]:
    organization = organizations.find(pixel.organization_id)
    assert organization is not None  # the pixel belongs to it
    return {
        shopify_pixel.ACCOUNT: pixel.public_key,
        "endpoint": settings.current().web.url,
        "params": ",".join(Params(organization.attribution_params).effective_order),
    }


def _retry_at(since: datetime, now: datetime) -> datetime:
    waited = now - since
    return now + next((step for step in _RETRY_AFTER if waited < 4 * step), _RETRY_AFTER[-1])


def _enqueue(organization_id: UUID, connection_id: UUID) -> None:
    work.enqueue(jobs.WEB_PIXEL_SETTLE, organization_id=organization_id, connection_id=connection_id)
