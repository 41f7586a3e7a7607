"""Answers stored for a while, so that a repeated request gets the same answer and has no effect.

Answers to operators belong to no organization.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg2 import errorcodes

from models.db import UNAVAILABLE, Json, db, sqlstate
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A stored answer. `status` is None while the first request is still in progress."""

    request_hash: bytes
    status: int | None
    body: bytes | None
    headers: Mapping[str, str] | None


class RequestStillRunning(Exception):
    """An earlier request with this key did not end while this one waited; the transaction cannot continue."""


# Once the key is claimed, the usual lock timeout applies again. Before that no other statement may be sent, not even a
# `prepare`.
_CLAIM = """
insert into stored_answer as s (organization_id, scope, key, request_hash) values (%s, %s, %s, %s)
on conflict (scope, key, organization_id) do update
  set request_hash = excluded.request_hash, status = null, body = null, headers = null, created_at = now()
  where s.created_at < now() - make_interval(secs => %s)
returning set_config('lock_timeout', '10s', true)
"""


def claim(*, organization_id: UUID | None, scope: str, key: str, request_hash: bytes, window_s: int) -> bool:
    """Reserve a key in this transaction; return False if an earlier request within `window_s` has it.

    If that request is still running, wait for its end, five seconds at most; then its answer can be read.
    Raises RequestStillRunning.
    """
    db.stage("set local lock_timeout = '5s'")
    try:
        rows = db.run(_CLAIM, (organization_id, scope, key, request_hash, window_s))
    except UNAVAILABLE as error:
        if sqlstate(error) != errorcodes.LOCK_NOT_AVAILABLE:
            raise
        raise RequestStillRunning from error
    return bool(rows)


_ANSWERS = Rows(StoredAnswer)
_FIND = f"""
select {columns(StoredAnswer)} from stored_answer
where scope = %s and key = %s and organization_id is not distinct from %s
  and created_at >= now() - make_interval(secs => %s)
"""


def find(*, organization_id: UUID | None, scope: str, key: str, window_s: int) -> StoredAnswer | None:
    """Return the answer stored under a key within the last `window_s` seconds."""
    return _ANSWERS.first(_FIND, (scope, key, organization_id, window_s))


_STAGE_ANSWER = """
update stored_answer set status = %s, body = %s, headers = %s
where scope = %s and key = %s and organization_id is not distinct from %s
"""


def stage_answer(
    *, organization_id: UUID | None, scope: str, key: str, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    """Stage the answer under a key that this transaction has claimed."""
    db.stage(_STAGE_ANSWER, (status, body, Json(dict(headers)), scope, key, organization_id))


_ANY_ORG_DELETE_OLD = """
delete from stored_answer where ctid = any(array(
  select ctid from stored_answer
  where created_at < now() - interval '60 minutes'
  order by created_at limit %s
  for update skip locked
))
returning 1
"""


def any_org_delete_old(*, limit: int) -> int:
    """Delete up to `limit` answers older than an hour, the longest window there is; return how many."""
    return len(db.run(_ANY_ORG_DELETE_OLD, (limit,)))
