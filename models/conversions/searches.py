"""Finds conversions by what a person has at hand: an id, an order's number, a part of an affiliate's name or email."""

from uuid import UUID

from domain.gateways.names import Gateway
from models.db import db

# The sources that the organization has conversions of, one row of each looked at: external ids are unique within one.
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
# Each affiliate's rows are looked up while they are few; the rows of many lie close together in the list itself.
_FEW = 200


#: SQL for the ids of conversions by their external event id `sought`, in whichever source.
KNOWN_AS = f"""
with recursive {_SOURCES}
select s.id from source join conversion s
  on s.organization_id = %(organization_id)s and s.source = source.name and s.external_event_id = %(sought)s
"""

# Each source has at most one conversion with an external id. A sale that was accepted has its conversion's id already.
# Of two gateways that gave two orders one number the older conversion is meant.
_REFUNDABLE = f"""
select id from (
  select id, accepted_at as since, 0 as rank from sale
  where organization_id = %(organization_id)s and external_event_id = %(sought)s
  union all
  select c.id, c.created_at, case when c.source = 's2s' then 0 when c.source = any(%(gateways)s) then 1
    when c.source = 'import' then 2 when c.source = 'manual' then 3 else 4 end
  from ({KNOWN_AS}) known join conversion c on c.organization_id = %(organization_id)s and c.id = known.id
  where c.parent_id is null
) found order by rank, since, id limit 1
"""


def find_refundable(*, organization_id: UUID, external_event_id: str) -> UUID | None:
    """Return the conversion that a brand means by an external id; None where it has none.

    The signed sale first, also one that is not settled yet, then a gateway's, an imported one, one by hand, any other.
    Shares of recruiters have no external id of the brand's. Budget: 1 statement.
    """
    gateways = [gateway.value for gateway in Gateway]
    params = {"organization_id": organization_id, "sought": external_event_id, "gateways": gateways}
    row = db.row(_REFUNDABLE, params)
    return row[0] if row else None


def looked_up(ids: str) -> str:
    """Return SQL for the conversions `c` of the organization with the ids that a statement brings, each by its key.

    Said apart like this, it goes so whatever the plan was made of: where tenants have few rows on the average, one that
    has a million is no reason to read through its list.
    """
    return f"""({ids}) known (id) cross join lateral (
  select * from conversion where organization_id = %(organization_id)s and id = known.id offset 0
) c"""


def found(*, where: str, moment: str, direction: str) -> str:
    """Return SQL for the ids of up to `limit` conversions `c` that are sought, of those that a condition holds for.

    It takes the parameters `sought`, `sought_id` (None: it is no id), `organization_id`, `limit` and the condition's.
    """
    shown = f"select c.id, {moment} as moment from"
    order = f"order by {moment} {direction}, c.id {direction} limit %(limit)s"
    # What is looked up apart, behind an `offset 0`, goes by its own index whatever the plan was made of; so does the
    # list, whose condition on affiliates is no condition that an index could take. Only the few that were named are
    # made distinct by a hash: it is laid out for the rows that the plan expects, which of a list are a share of it all.
    return f"""
with recursive {_SOURCES}, {_WHOSE}, named (id, moment) as materialized (
  {shown} (
    select * from conversion where organization_id = %(organization_id)s and id = %(sought_id)s offset 0
  ) c where {where}
  union
  {shown} source cross join lateral (
    select * from conversion s where s.organization_id = %(organization_id)s and s.source = source.name
      and s.external_event_id = %(sought)s offset 0
  ) c where {where}
)
select id from (
  select id, moment from named
  union all
  select k.id, k.moment from whose cross join lateral (
    {shown} conversion c where {where} and c.affiliate_id = whose.id {order}
  ) k where not exists (select from whose offset {_FEW}) and k.id not in (select id from named)
  union all
  select k.id, k.moment from (
    {shown} conversion c where {where} and (c.affiliate_id in (select id from whose)) is true
      and exists (select from whose offset {_FEW}) {order}
  ) k where k.id not in (select id from named)
) known order by moment {direction}, id {direction} limit %(limit)s
"""
