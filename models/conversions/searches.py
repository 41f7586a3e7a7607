"""Finds conversions by what a person has at hand: an id, an order's number, how an affiliate's name or email begins."""

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
# Byte by byte, so that one index serves every beginning; the last character of all ends what begins so.
_BEGINS = "{0} ~>=~ lower(%(sought)s) and {0} ~<~ (lower(%(sought)s) || chr(1114111))"
_AFFILIATES = f"""
select id from affiliate where organization_id = %(organization_id)s and {_BEGINS.format("email")}
union
select id from affiliate where organization_id = %(organization_id)s and {_BEGINS.format("name_sought")}
"""


def found(*, where: str, moment: str, direction: str) -> str:
    """Return SQL for the ids of up to `limit` conversions `c` that are sought, of those that a condition holds for.

    It takes the parameters `sought`, `sought_id` (None: it is no id), `organization_id`, `limit` and the condition's.
    """
    order = f"order by {moment} {direction}, c.id {direction} limit %(limit)s"
    # What is looked up apart, behind an `offset 0`, goes by its own index whatever the plan was made of.
    return f"""
with recursive {_SOURCES}
select id from (
  select c.id, {moment} as moment from (select * from conversion where id = %(sought_id)s offset 0) c where {where}
  union
  select c.id, {moment} from source cross join lateral (
    select * from conversion s where s.organization_id = %(organization_id)s and s.source = source.name
      and s.external_event_id = %(sought)s offset 0
  ) c where {where}
  union
  select k.id, k.moment from ({_AFFILIATES}) a cross join lateral (
    select c.id, {moment} as moment from conversion c where {where} and c.affiliate_id = a.id {order}
  ) k
) known order by moment {direction}, id {direction} limit %(limit)s
"""
