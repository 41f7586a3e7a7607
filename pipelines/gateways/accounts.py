"""Opens what a connection keeps sealed, for its adapter; and seals it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from adapters import sealing
from adapters.gateways.base import GatewayAccount
from models.gateways.connections import GatewayConnection

#: How long a proof made with a credential that was replaced still counts.
FORMER_FOR = timedelta(hours=1)


def of(connection: GatewayConnection, *, now: datetime) -> GatewayAccount:
    """Return a connection as its adapter needs it."""
    former: tuple[Mapping[str, str], ...] = ()
    if connection.former_sealed is not None and connection.former_until and now < connection.former_until:
        former = (opened(connection.former_sealed, connection.id),)
    return GatewayAccount(
        mode="live" if connection.mode == "live" else "test",
        credentials=opened(connection.credentials_sealed, connection.id),
        made=opened(connection.made_sealed, connection.id),
        former=former,
    )


def sealed(values: Mapping[str, str], connection_id: UUID) -> bytes:
    """Return names and values sealed for a connection."""
    return sealing.seal(orjson.dumps(dict(values)).decode(), belongs_to=str(connection_id))


def opened(values: bytes, connection_id: UUID) -> dict[str, str]:
    """Return what `sealed` sealed. Raises adapters.sealing.CannotOpen."""
    found: dict[str, str] = orjson.loads(sealing.unseal(values, belongs_to=str(connection_id)))
    return found
