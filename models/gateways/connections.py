"""Native connections to payment gateways, one in force for each gateway and mode of an organization."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.gateways.scopes import EarlierAccount
from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, Table


@dataclass(frozen=True, slots=True)
class GatewayConnection:
    """A connection. Sealed values are bound to the connection's id.

    `refused_at` is when the gateway first refused the credentials since it last accepted them; `former_sealed` are the
    previous credentials, which verify signatures until `former_until`. `identity` identifies the account, empty if
    the gateway does not report it, and `id_prefix` is the prefix of its payments' ids in our tables.
    """

    id: UUID
    organization_id: UUID
    gateway: str
    mode: str
    status: str
    account: str
    token_hash: bytes
    token_sealed: bytes
    credentials_sealed: bytes
    made_sealed: bytes
    former_sealed: bytes | None
    former_until: datetime | None
    connected_at: datetime
    disconnected_at: datetime | None
    last_event_at: datetime | None
    last_checked_at: datetime | None
    last_error: str | None
    refused_at: datetime | None
    reconciled_to: datetime | None
    identity: tuple[str, ...]
    id_prefix: str

    @property
    def created_at(self) -> datetime:
        """The time by which lists are ordered."""
        return self.connected_at


_TABLE = Table("gateway_connection", GatewayConnection)
#: Insert a connection; False when the organization has one in force for this gateway and mode.
insert = _TABLE.insert


def update(*, organization_id: UUID, connection_id: UUID, changes: Mapping[str, Any]) -> GatewayConnection | None:
    """Change columns of a connection and return it as it is now; None when the organization has no such connection."""
    return _TABLE.update({"organization_id": organization_id, "id": connection_id}, changes)


_ONE = f"select {_TABLE.columns} from gateway_connection where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, connection_id: UUID) -> GatewayConnection | None:
    """Return one connection of the organization, in force or not."""
    return _TABLE.first(_FIND, (organization_id, connection_id))


def lock(*, organization_id: UUID, connection_id: UUID) -> GatewayConnection | None:
    """Return one connection of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, connection_id))


_IN_FORCE = f"""
select {_TABLE.columns} from gateway_connection
where organization_id = %s and gateway = %s and mode = %s and status <> 'Disconnected'
"""


def find_in_force(*, organization_id: UUID, gateway: str, mode: str) -> GatewayConnection | None:
    """Return the organization's connection of a gateway and mode that is not disconnected."""
    return _TABLE.first(_IN_FORCE, (organization_id, gateway, mode))


_ACCOUNTS = Rows(EarlierAccount)
_EARLIER = """
select distinct identity, id_prefix from gateway_connection where organization_id = %s and gateway = %s and mode = %s
"""


def list_accounts(*, organization_id: UUID, gateway: str, mode: str) -> list[EarlierAccount]:
    """Return the accounts of a gateway that the organization ever connected in a mode."""
    return _ACCOUNTS.all(_EARLIER, (organization_id, gateway, mode))


_WAS_IN_FORCE = """
select from gateway_connection
where organization_id = %(org)s and gateway = %(gateway)s and mode = %(mode)s
  and connected_at <= %(until)s and (disconnected_at is null or disconnected_at > %(at)s)
limit 1
"""


def was_in_force(*, organization_id: UUID, gateway: str, mode: str, at: datetime, until: datetime) -> bool:
    """Return whether any connection of a gateway and mode was in force between two times."""
    params = {"org": organization_id, "gateway": gateway, "mode": mode, "at": at, "until": until}
    return bool(db.run(_WAS_IN_FORCE, params))


_ALL_IN_FORCE = f"""
select {_TABLE.columns} from gateway_connection
where organization_id = %s and status <> 'Disconnected'
order by mode = 'test', connected_at, id
"""


def list_in_force(organization_id: UUID) -> list[GatewayConnection]:
    """Return the organization's connections that are not disconnected, live ones first, oldest first."""
    return _TABLE.all(_ALL_IN_FORCE, (organization_id,))


_PAGE = f"""
select {_TABLE.columns} from gateway_connection
where organization_id = %(org)s
  and (%(before)s::timestamptz is null or (connected_at, id) < (%(before)s, %(before_id)s))
order by connected_at desc, id desc
limit %(limit)s
"""


def page(*, organization_id: UUID, after: tuple[datetime, UUID] | None, limit: int) -> list[GatewayConnection]:
    """Return up to `limit` connections, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    params = {"org": organization_id, "before": before, "before_id": before_id, "limit": limit}
    return _TABLE.all(_PAGE, params)


_BY_TOKEN = Lookup(f"""
select {_TABLE.columns} from gateway_connection where token_hash = %s and gateway = %s and status <> 'Disconnected'
""")


def any_org_find_by_token(*, token_hash: bytes, gateway: str) -> GatewayConnection | None:
    """Return the connection whose webhook address contains a token, by the token's SHA-256.

    Budget: 1 statement, 2 without a result.
    """
    return _TABLE.first(_BY_TOKEN, (token_hash, gateway))


_STAGE_LIVE_NAMES = """
update organization o set connected_gateways = coalesce(live.names, '{}')
from (
  select array_agg(gateway order by connected_at, id) as names from gateway_connection
  where organization_id = %(org)s and mode = 'live' and status <> 'Disconnected'
) live
where o.id = %(org)s
"""


def stage_live_names(organization_id: UUID) -> None:
    """Stage the organization's list of live gateways, which all its API callers see, oldest first."""
    db.stage(_STAGE_LIVE_NAMES, {"org": organization_id})


_STAGE_SEEN = PreparedStatement("""
update gateway_connection set last_event_at = %(at)s
where organization_id = %(org)s and id = %(id)s
  and (last_event_at is null or last_event_at < %(at)s::timestamptz - interval '10 seconds')
""")


def stage_seen(*, organization_id: UUID, connection_id: UUID, at: datetime) -> None:
    """Stage the time of the last event, to within ten seconds: not every event changes the row."""
    db.stage(_STAGE_SEEN, {"org": organization_id, "id": connection_id, "at": at})


_ANY_ORG_IDLE = f"""
select {_TABLE.columns} from gateway_connection
where status <> 'Disconnected' and (cardinality(%(gateways)s::text[]) = 0 or gateway = any(%(gateways)s))
  and not exists (
    select from job j
    where j.queue = 'imports' and j.fair_key = gateway_connection.organization_id::text
      and j.name = 'gateway.reconcile' and j.failed_at is null and not j.args ? 'since'
      and j.args ->> 'connection_id' = gateway_connection.id::text
  )
order by organization_id, id
"""
_ANY_ORG_REFUSED = f"""
select {_TABLE.columns} from gateway_connection
where status <> 'Disconnected' and refused_at is not null
order by organization_id, id
"""
_STAGE_REFUSAL = """
update gateway_connection set refused_at = coalesce(refused_at, %(at)s), last_error = %(why)s
where organization_id = %(org)s and id = %(id)s and status <> 'Disconnected'
"""


def any_org_list_idle(gateways: tuple[str, ...] = ()) -> list[GatewayConnection]:
    """Return every connection in force, of these gateways or of all, for which no run is queued."""
    return _TABLE.all(_ANY_ORG_IDLE, {"gateways": list(gateways)})


def any_org_list_refused() -> list[GatewayConnection]:
    """Return every connection whose gateway refused the credentials at the last request."""
    return _TABLE.all(_ANY_ORG_REFUSED)


def stage_refusal(*, organization_id: UUID, connection_id: UUID, why: str, at: datetime) -> None:
    """Stage that the gateway refused the credentials, with its message; a check will try again."""
    db.stage(_STAGE_REFUSAL, {"org": organization_id, "id": connection_id, "why": why, "at": at})
