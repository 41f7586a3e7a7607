"""Which lists of rails were compared on this server, and which methods rails were asked by before."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.ids import new_id
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class RestoreListing:
    """The newest complete comparison of a method's payments."""

    method: str
    since: datetime
    source: str
    transfers: int
    listed_at: datetime


_INSERT = """
insert into restore_listing (id, server, method, since, source, transfers) values (%s, this_server(), %s, %s, %s, %s)
"""


def stage(*, method: str, since: datetime, source: str, transfers: int) -> None:
    """Stage that a method's payments since a time were all compared on this server."""
    db.stage(_INSERT, (new_id(), method, since, source, transfers))


# Of several the one that reaches back furthest, then the newest.
_OF_SERVER = f"""
select distinct on (method) {columns(RestoreListing)} from restore_listing where server = this_server()
order by method, since, listed_at desc
"""
_listings = Rows(RestoreListing)


def of_this_server() -> list[RestoreListing]:
    """Return what was compared on this server, one row per method: the one that reaches back furthest."""
    return _listings.all(_OF_SERVER)


_USED = """
select distinct method from payout_attempt where books is not null and books <> 'sandbox' order by method
"""


def any_org_used_methods() -> list[str]:
    """Return the methods by which rails of others were asked to pay."""
    return [method for (method,) in db.run(_USED)]
