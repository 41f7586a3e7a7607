"""The parameters that the links of a switch name."""

from uuid import UUID

from models.db import db

_MAX_NAMES = 100
_LIST = """
select record->>'parameter' from switch_item
where organization_id = %s and switch_id = %s and collection = 'links' and verdict <> 'left_out'
  and record->>'parameter' <> ''
group by 1 order by count(*) desc, 1 limit %s
"""


def list_names(*, organization_id: UUID, switch_id: UUID) -> list[str]:
    """Return the parameters of the judged links that come over, the most frequent first, at most 100."""
    return [name for (name,) in db.run(_LIST, (organization_id, switch_id, _MAX_NAMES))]
