"""Checkouts of a store as its web pixel reports them: with the slug by which the browser had come.

A checkout is identified by the hash of its token, which only its buyer and the store know.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class CheckoutClaim:
    """The attribution that a browser reported for its checkout."""

    slug: str
    sub_id: str | None


_CLAIMS = Rows(CheckoutClaim)
_FIND = FreshSelect(f"""
select {columns(CheckoutClaim)} from pixel_checkout
where organization_id = %s and token_hash = %s and slug is not null
""")


def find(*, organization_id: UUID, token: str) -> CheckoutClaim | None:
    """Return the reported claim of a checkout. Budget: 1 statement."""
    return _CLAIMS.first(_FIND, (organization_id, _hash(token)))


_STORE = PreparedStatement("""
with before as (
  select event_id from pixel_checkout where organization_id = %(org)s and token_hash = %(hash)s
), told as (
  insert into pixel_checkout (organization_id, token_hash, slug, sub_id, told_at)
  values (%(org)s, %(hash)s, %(slug)s, %(sub_id)s, %(at)s)
  on conflict (organization_id, token_hash) do update
    set slug = excluded.slug, sub_id = excluded.sub_id, event_id = null, told_at = excluded.told_at
)
select event_id from before where event_id is not null
""")


def store(*, organization_id: UUID, token: str, claim: CheckoutClaim, at: datetime) -> UUID | None:
    """Store the claim of a checkout, whose lock is held; return the event that waits for it.

    A later claim replaces an earlier one. Budget: 1 statement.
    """
    params = {"org": organization_id, "hash": _hash(token), "slug": claim.slug, "sub_id": claim.sub_id, "at": at}
    row = db.row(_STORE, params)
    return row[0] if row else None


_STAGE_AWAITED = """
insert into pixel_checkout (organization_id, token_hash, event_id, told_at) values (%s, %s, %s, %s)
on conflict (organization_id, token_hash) do update set event_id = excluded.event_id
"""


def stage_awaited(*, organization_id: UUID, token: str, event_id: UUID, at: datetime) -> None:
    """Stage that an event waits for the claim of a checkout, whose lock is held."""
    db.stage(_STAGE_AWAITED, (organization_id, _hash(token), event_id, at))


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
