"""Opens what a connection keeps sealed, for its adapter."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from adapters.gateways.base import GatewayAccount
from models.gateways.connections import GatewayConnection
from pipelines.credentials import unseal

#: How long a proof made with a credential that was replaced still counts.
FORMER_FOR = timedelta(hours=1)


def of(connection: GatewayConnection, *, now: datetime) -> GatewayAccount:
    """Return a connection as its adapter needs it."""
    former: tuple[Mapping[str, str], ...] = ()
    if connection.former_sealed is not None and connection.former_until and now < connection.former_until:
        former = (unseal(connection.former_sealed, connection.id),)
    return GatewayAccount(
        mode="live" if connection.mode == "live" else "test",
        credentials=unseal(connection.credentials_sealed, connection.id),
        made=unseal(connection.made_sealed, connection.id),
        former=former,
    )
