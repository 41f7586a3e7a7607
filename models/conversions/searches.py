"""Searches conversions by id, order number, or a part of an affiliate's name or email."""

from uuid import UUID

from domain.gateways.names import Gateway
from models.db import db

# The sources of the organization's conversions, found by reading one row of each: external ids are unique per source.
_SOURCES = """
source (name) as (
  (select source from conversion where organization_id = %(organization_id)s order by source limit 1)
  union all
  select (select s.source from conversion s where s.organization_id = %(organization_id)s and s.source > source.name
    order by s.source limit 1)
  from source where name is not null
)
"""
_WHOSE = """
whose (id) as materialized (
  select id from affiliate where organization_id = %(organization_id)s
    and strpos(name_sought || ' ' || email, lower(%(sought)s)) > 0
)
"""
# Up to so many affiliates are looked up one by one; the rows of more are dense in the list itself.
_MAX_LOOKUPS = 200


#: SQL for the ids of conversions by their external event id `sought`, in whichever source.
IDS_BY_EXTERNAL_ID = f"""
with recursive {_SOURCES}
select s.id from source join conversion s
  on s.organization_id = %(organization_id)s and s.source = source.name and s.external_event_id = %(sought)s
"""

# Each source has at most one conversion with an external id. An accepted sale already has its conversion's id.
# If two gateways gave two orders the same number, the older conversion counts.
_REFUNDABLE = f"""
select id from (
  select id, accepted_at as since, 0 as rank from sale
  where organization_id = %(organization_id)s and external_event_id = %(sought)s
  union all
  select c.id, c.created_at, case when c.source = 's2s' then 0 when c.source = any(%(gateways)s) then 1
    when c.source = 'import' then 2 when c.source = 'manual' then 3 else 4 end
  from ({IDS_BY_EXTERNAL_ID}) known join conversion c on c.organization_id = %(organization_id)s and c.id = known.id
  where c.parent_id is null
) candidates order by rank, since, id limit 1
"""


def find_refundable(*, organization_id: UUID, external_event_id: str) -> UUID | None:
    """Return the brand's conversion with an external id, or None.

    A signed sale comes first, settled or not, then a gateway's, an imported, a manual, and any other one.
    Recruiters' shares have no external id. Budget: 1 statement.
    """
    gateways = [gateway.value for gateway in Gateway]
    params = {"organization_id": organization_id, "sought": external_event_id, "gateways": gateways}
    row = db.row(_REFUNDABLE, params)
    return row[0] if row else None


def lookup_sql(ids: str) -> str:
    """Return SQL for the organization's conversions `c` with the ids of a select, each looked up by its key.

    This form forces the key lookup whatever statistics the plan was made from: a tenant with a million rows is not
    scanned because tenants have few rows on average.
    """
    return f"""({ids}) known (id) cross join lateral (
  select * from conversion where organization_id = %(organization_id)s and id = known.id offset 0
) c"""


def search_sql(*, where: str, moment: str, direction: str) -> str:
    """Return SQL for the ids of up to `limit` conversions `c` that match the search and a condition.

    Parameters: `sought`, `sought_id` (None: not an id), `organization_id`, `limit` and the condition's.
    """
    select = f"select c.id, {moment} as moment from"
    order = f"order by {moment} {direction}, c.id {direction} limit %(limit)s"
    # Each subselect with `offset 0` uses its own index whatever statistics the plan was made from; so does the list,
    # whose condition on affiliates no index can serve. Only the few affiliates of the search are made distinct by a
    # hash: its size follows the planner's row estimate, which for a list is a share of the whole table.
    return f"""
with recursive {_SOURCES}, {_WHOSE}, named (id, moment) as materialized (
  {select} (
    select * from conversion where organization_id = %(organization_id)s and id = %(sought_id)s offset 0
  ) c where {where}
  union
  {select} source cross join lateral (
    select * from conversion s where s.organization_id = %(organization_id)s and s.source = source.name
      and s.external_event_id = %(sought)s offset 0
  ) c where {where}
)
select id from (
  select id, moment from named
  union all
  select k.id, k.moment from whose cross join lateral (
    {select} conversion c where {where} and c.affiliate_id = whose.id {order}
  ) k where not exists (select from whose offset {_MAX_LOOKUPS}) and k.id not in (select id from named)
  union all
  select k.id, k.moment from (
    {select} conversion c where {where} and (c.affiliate_id in (select id from whose)) is true
      and exists (select from whose offset {_MAX_LOOKUPS}) {order}
  ) k where k.id not in (select id from named)
) known order by moment {direction}, id {direction} limit %(limit)s
"""
