"""Connections to newsletter and CRM platforms, one for each platform of an organization."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Table


@dataclass(frozen=True, slots=True)
class PlatformConnection:
    """A connection. Sealed values are bound to the connection's id.

    It may credit sales since `credits_since`, None: it may not; `slug_field` None is the platform's default field.
    """

    id: UUID
    organization_id: UUID
    platform: str
    status: str
    credits_since: datetime | None
    slug_field: str | None
    credentials_sealed: bytes
    connected_at: datetime
    last_checked_at: datetime | None
    last_error: str | None

    @property
    def created_at(self) -> datetime:
        """The time by which lists are ordered."""
        return self.connected_at

    @property
    def credit_sales(self) -> bool:
        """Whether it may credit sales."""
        return self.credits_since is not None


_TABLE = Table("platform_connection", PlatformConnection)
#: Insert a connection and return it; None when the organization has one to this platform.
insert = _TABLE.insert_returning
#: Change columns of a locked connection and return it as it is now.
change = _TABLE.update_locked


_ONE = f"select {_TABLE.columns} from platform_connection where organization_id = %s and id = %s"


def find(*, organization_id: UUID, connection_id: UUID) -> PlatformConnection | None:
    """Return one connection of the organization."""
    return _TABLE.first(_ONE, (organization_id, connection_id))


def lock(*, organization_id: UUID, connection_id: UUID) -> PlatformConnection | None:
    """Return one connection of the organization, locked until the transaction ends."""
    return _TABLE.first(f"{_ONE} for update", (organization_id, connection_id))


def is_connected(*, organization_id: UUID, platform: str) -> bool:
    """Return whether the organization is connected to a platform."""
    sql = "select from platform_connection where organization_id = %s and platform = %s"
    return bool(db.run(sql, (organization_id, platform)))


def stage_delete(connection: PlatformConnection) -> None:
    """Stage the deletion of a connection."""
    db.stage(
        "delete from platform_connection where organization_id = %s and id = %s",
        (connection.organization_id, connection.id),
    )


_PAGE = f"""
select {_TABLE.columns} from platform_connection
where organization_id = %(org)s
  and (%(before)s::timestamptz is null or (connected_at, id) < (%(before)s, %(before_id)s))
order by connected_at desc, id desc
limit %(limit)s
"""


def page(*, organization_id: UUID, after: tuple[datetime, UUID] | None, limit: int) -> list[PlatformConnection]:
    """Return up to `limit` connections, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    params = {"org": organization_id, "before": before, "before_id": before_id, "limit": limit}
    return _TABLE.all(_PAGE, params)


_CREDITING = f"""
select {_TABLE.columns} from platform_connection
where organization_id = %s and status = 'Active' and credits_since <= %s
order by connected_at, id
"""


def list_crediting(*, organization_id: UUID, at: datetime) -> list[PlatformConnection]:
    """Return the connections that may credit a sale made at a time, the oldest connection first."""
    return _TABLE.all(_CREDITING, (organization_id, at))
