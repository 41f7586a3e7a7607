"""Answers kept for a while, so that the same request again gets the same answer and does nothing twice.

An operator's belong to no organization.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import peewee
from psycopg2 import errorcodes

from models.db import Json, db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Stored:
    """A kept answer. `status` is None while the first request is still being worked on."""

    request_hash: bytes
    status: int | None
    body: bytes | None
    headers: Mapping[str, str] | None


class StillRunning(Exception):
    """An earlier request with this key did not end while this one waited; the transaction is of no more use."""


# Who has claimed waits for others as long as anybody, from here on: nothing else may come first, no `prepare` either.
_CLAIM = """
insert into stored_answer as s (organization_id, scope, key, request_hash) values (%s, %s, %s, %s)
on conflict (scope, key, organization_id) do update
  set request_hash = excluded.request_hash, status = null, body = null, headers = null, created_at = now()
  where s.created_at < now() - make_interval(secs => %s)
returning set_config('lock_timeout', '10s', true)
"""


def claim(*, organization_id: UUID | None, scope: str, key: str, request_hash: bytes, window_s: int) -> bool:
    """Reserve a key in this transaction; False when an earlier request within `window_s` has it.

    A twin that is still running makes this wait for its end, five seconds at most; then its answer is there to read.
    Raises StillRunning.
    """
    db.stage("set local lock_timeout = '5s'")
    try:
        rows = db.run(_CLAIM, (organization_id, scope, key, request_hash, window_s))
    except peewee.OperationalError as error:
        if getattr(getattr(error, "orig", None), "pgcode", None) != errorcodes.LOCK_NOT_AVAILABLE:
            raise
        raise StillRunning from error
    return bool(rows)


_ANSWERS = Rows(Stored)
_FIND = f"""
select {columns(Stored)} from stored_answer
where scope = %s and key = %s and organization_id is not distinct from %s
  and created_at >= now() - make_interval(secs => %s)
"""


def find(*, organization_id: UUID | None, scope: str, key: str, window_s: int) -> Stored | None:
    """Return what is kept under a key since `window_s` seconds at most."""
    return _ANSWERS.first(_FIND, (scope, key, organization_id, window_s))


_STAGE_KEEP = """
update stored_answer set status = %s, body = %s, headers = %s
where scope = %s and key = %s and organization_id is not distinct from %s
"""


def stage_keep(
    *, organization_id: UUID | None, scope: str, key: str, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    """Stage the answer under a key that this transaction has claimed."""
    db.stage(_STAGE_KEEP, (status, body, Json(dict(headers)), scope, key, organization_id))


_ANY_ORG_FORGET = """
delete from stored_answer where ctid = any(array(
  select ctid from stored_answer
  where created_at < now() - interval '60 minutes'
  order by created_at limit %s
  for update skip locked
))
returning 1
"""


def any_org_forget(*, limit: int) -> int:
    """Drop up to `limit` answers older than an hour, the longest window there is; returns how many."""
    return len(db.run(_ANY_ORG_FORGET, (limit,)))
