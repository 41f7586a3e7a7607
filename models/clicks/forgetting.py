"""Who made a click is forgotten after a while; the click stays."""

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
    """Forget by whom up to `limit` clicks from before a moment were made, the oldest first; returns how many."""
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
    """Stage that nobody takes the place of who made the clicks in dead letters from before a moment.

    Each can still be written: what is in one is the text of `wire.to_bytes`, or nonsense. Of a visitor the letter
    keeps their program.
    """
    db.stage(_FORGET_LETTERS, (queue, before, list(names)))
