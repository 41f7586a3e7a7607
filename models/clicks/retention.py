"""Removes visitor data from old clicks; the clicks themselves stay."""

from collections.abc import Sequence
from datetime import datetime

from models.db import db

_FORGET_HASHES = """
update click set visitor_hash = null, network_hash = null
where id in (
  select id from click where occurred_at < %s and (visitor_hash is not null or network_hash is not null)
  order by occurred_at limit %s for update skip locked
)
returning 1
"""


def any_org_forget_hashes(*, before: datetime, limit: int) -> int:
    """Erase the visitor hashes of up to `limit` clicks older than a time, oldest first; return how many."""
    return len(db.run(_FORGET_HASHES, (before, limit)))


_FORGET_LETTERS = r"""
update job set args = args || jsonb_build_object('is_forgotten', 'yes', 'entry',
  regexp_replace(regexp_replace(regexp_replace(args ->> 'entry',
    '"visitor_id":"([^"\\]|\\.)*"', '"visitor_id":null'),
    '"visitor":"[0-9a-f]*"', '"visitor":"' || replace(gen_random_uuid()::text, '-', '') || '"'),
    '"network":"[0-9a-f]*"', '"network":"' || replace(gen_random_uuid()::text, '-', '') || '"'))
where queue = %s and failed_at < %s and name = any(%s) and not args ? 'is_forgotten'
"""


def any_org_stage_forget_letters(*, names: Sequence[str], queue: str, before: datetime) -> None:
    """Stage that the visitors in failed click jobs older than a time are replaced by null or random values.

    Each job can still run: its `entry` is the text of `serialization.to_bytes`, or was already invalid. The visitor's
    program is kept.
    """
    db.stage(_FORGET_LETTERS, (queue, before, list(names)))
