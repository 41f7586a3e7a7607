"""The erasure of keys and staging: which switches are due, and the deletion of what was read and judged."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows


class DueSwitch(NamedTuple):
    """A switch of which something must be erased, or that was left alone."""

    organization_id: UUID
    id: UUID


_DUE = Rows(DueSwitch)
# The index is that of switches with a key or staging.
_ANY_ORG_DUE = """
select organization_id, id from switch
where not is_forgotten and (
  state in ('Cancelled', 'Undone')
  or (state = 'Completed' and (credentials_sealed is not null or undo_until <= %(now)s))
  or (state in ('Connected', 'Ready', 'Paused') and touched_at < %(left_alone_since)s
      and (paused_in is distinct from 'Writing' or credentials_sealed is not null))
)
order by touched_at limit %(limit)s
"""


def any_org_list_due(*, now: datetime, left_alone_since: datetime, limit: int) -> Sequence[DueSwitch]:
    """Return switches that ended and have a key or staging that is no longer needed, or that were left alone."""
    return _DUE.all(_ANY_ORG_DUE, {"now": now, "left_alone_since": left_alone_since, "limit": limit})


# Found by their places: a join of as many keys is slow where PostgreSQL has no statistics of the table yet.
_DELETE_ROWS = """
with gone as (
  delete from {table} where organization_id = %(org)s and switch_id = %(switch)s and ctid = any(array(
    select ctid from {table} where organization_id = %(org)s and switch_id = %(switch)s limit %(limit)s
  )) returning 1
)
select count(*) from gone
"""
_SLICED = [_DELETE_ROWS.format(table=table) for table in ("switch_item", "switch_row")]
_STAGE_FIGURES_GONE = "delete from switch_figure where organization_id = %s and switch_id = %s"
_STAGE_LISTS_GONE = "delete from switch_list where organization_id = %s and switch_id = %s"


def delete_staging(*, organization_id: UUID, switch_id: UUID, limit: int) -> int:
    """Delete at most `limit` rows of what was read and judged; return how many of them may still be deleted.

    0: there may be more rows. With the last rows go lists and figures.
    """
    left = limit
    for statement in _SLICED:
        if left:
            row = db.row(statement, {"org": organization_id, "switch": switch_id, "limit": left})
            assert row is not None  # it counts
            left -= row[0]
    if left:
        db.stage(_STAGE_FIGURES_GONE, (organization_id, switch_id))
        db.stage(_STAGE_LISTS_GONE, (organization_id, switch_id))
    return left
