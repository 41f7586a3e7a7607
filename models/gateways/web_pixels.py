"""Web pixels of stores: one per connection, with the same id, and the key that identifies its clicks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import Lookup
from models.table import Table


@dataclass(frozen=True, slots=True)
class WebPixel:
    """A pixel. `account` is the store's name, `error` the gateway's error at the last request.

    `settled_at` is when it was last confirmed to be correct. `credentials_sealed` are bound to the connection's id and
    stored while the pixel of an ended connection is to be deleted.
    """

    id: UUID
    organization_id: UUID
    account: str
    public_key: str
    state: str
    external_id: str | None
    error: str | None
    wanted_at: datetime
    settled_at: datetime | None
    ended_at: datetime | None
    credentials_sealed: bytes | None

    @property
    def has_ended(self) -> bool:
        """Whether its connection ended: its key is no longer accepted."""
        return self.ended_at is not None


_TABLE = Table("web_pixel", WebPixel)
#: Change a locked pixel and return it as it is now.
change = _TABLE.update_locked
_STAGE = """
insert into web_pixel (id, organization_id, account, public_key, state, wanted_at)
values (%(id)s, %(org)s, %(account)s, %(key)s, 'waiting', %(at)s)
on conflict do nothing
"""


def stage(*, organization_id: UUID, connection_id: UUID, account: str, public_key: str, at: datetime) -> None:
    """Stage the pixel of a connection, with its own key; an existing one stays unchanged."""
    params = {"id": connection_id, "org": organization_id, "account": account, "key": public_key, "at": at}
    db.stage(_STAGE, params)


_LOCK = Lookup(f"select {_TABLE.columns} from web_pixel where organization_id = %s and id = %s for no key update")


def lock(*, organization_id: UUID, connection_id: UUID) -> WebPixel | None:
    """Return the pixel of a connection, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, connection_id))


_OF = f"select {_TABLE.columns} from web_pixel where organization_id = %s and id = any(%s)"


def find_by_connections(*, organization_id: UUID, connection_ids: Sequence[UUID]) -> dict[UUID, WebPixel]:
    """Return the pixels of connections, by connection id. Budget: 1 statement, none without connections."""
    if not connection_ids:
        return {}
    return {pixel.id: pixel for pixel in _TABLE.all(_OF, (organization_id, list(connection_ids)))}


_IS_ENDING = """
select exists (select from web_pixel where organization_id = %s and account = %s and state = 'ending')
"""


def is_ending(*, organization_id: UUID, account: str) -> bool:
    """Return whether an earlier pixel at the same store is still to be deleted."""
    return db.row(_IS_ENDING, (organization_id, account)) == (True,)


_STAGE_ENDING = """
with ending as (
  update web_pixel p set state = 'ending', ended_at = %(at)s, error = null, credentials_sealed = c.credentials_sealed
  from gateway_connection c
  where p.organization_id = %(org)s and p.id = %(id)s and p.ended_at is null
    and c.organization_id = p.organization_id and c.id = p.id
  returning p.public_key
)
update organization set pixel_public_key = null
where id = %(org)s and pixel_public_key in (select public_key from ending)
"""


def stage_ending(*, organization_id: UUID, connection_id: UUID, at: datetime) -> None:
    """Stage that a connection's pixel is to be deleted at the store, while the connection still has its credentials.

    From now on the key is no longer accepted, nor contained in the organization's snippet.
    """
    db.stage(_STAGE_ENDING, {"org": organization_id, "id": connection_id, "at": at})


_STAGE_KEY = "update organization set pixel_public_key = %s where id = %s and pixel_public_key is null"


def stage_public_key(pixel: WebPixel) -> None:
    """Stage that the organization's snippet contains this pixel, unless it contains one already."""
    db.stage(_STAGE_KEY, (pixel.public_key, pixel.organization_id))
