"""The lists of rails that were compared on this server, and the payout methods in use."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

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


_BEGIN = """
insert into restore_listing (id, server, method, since, source, transfers, listed_at)
values (%s, this_server(), %s, %s, %s, 0, clock_timestamp())
"""
_FINISH = "update restore_listing set transfers = %s, finished_at = clock_timestamp() where id = %s"


def stage_begin(*, method: str, since: datetime, source: str) -> UUID:
    """Stage the start of comparing a method's payments since a time on this server; return the listing's id."""
    listing_id = new_id()
    db.stage(_BEGIN, (listing_id, method, since, source))
    return listing_id


def stage_finish(listing_id: UUID, *, transfers: int) -> None:
    """Stage the end of a comparison."""
    db.stage(_FINISH, (transfers, listing_id))


# Among several the one with the earliest start, then the newest. None counts while a later one runs or was
# interrupted: it may have found payments that the earlier one did not.
_OF_SERVER = f"""
select distinct on (l.method) {columns(RestoreListing, "l")} from restore_listing l
where l.server = this_server() and l.finished_at is not null and not exists (select from restore_listing later
  where later.server = l.server and later.method = l.method and later.finished_at is null
    and later.listed_at > l.listed_at)
order by l.method, l.since, l.listed_at desc
"""
_listings = Rows(RestoreListing)


def list_of_this_server() -> list[RestoreListing]:
    """Return the comparisons on this server, one row per method: the one with the earliest start."""
    return _listings.all(_OF_SERVER)


_NEWEST_ATTEMPT = "select max(created_at) from payout_attempt where books <> 'sandbox'"


def any_org_find_newest_attempt_at() -> datetime | None:
    """Return the time of the newest stored attempt: lost attempts are later."""
    row = db.row(_NEWEST_ATTEMPT)
    return row[0] if row else None


_USED = """
select distinct method from payout_attempt where books is not null and books <> 'sandbox' order by method
"""


def any_org_list_used_methods() -> list[str]:
    """Return the payout methods in use, other than the sandbox."""
    return [method for (method,) in db.run(_USED)]
