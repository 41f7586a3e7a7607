"""Opens the sealed credentials of a connection for its adapter."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from adapters.gateways.base import GatewayAccount
from models.gateways.connections import GatewayConnection
from pipelines.credentials import unseal

#: How long proofs made with replaced credentials still count.
FORMER_FOR = timedelta(hours=1)


def open_account(connection: GatewayConnection, *, now: datetime) -> GatewayAccount:
    """Return the account of a connection with its credentials unsealed, as adapters take it."""
    former: tuple[Mapping[str, str], ...] = ()
    if connection.former_sealed is not None and connection.former_until and now < connection.former_until:
        former = (unseal(connection.former_sealed, connection.id),)
    return GatewayAccount(
        mode="live" if connection.mode == "live" else "test",
        credentials=unseal(connection.credentials_sealed, connection.id),
        made=unseal(connection.made_sealed, connection.id),
        former=former,
    )
