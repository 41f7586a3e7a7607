"""Conversions to list: evenly spread over affiliates, programs, statuses, kinds and channel tags."""

from typing import Any

from bench.ground import history
from bench.ground.brand import Brand
from bench.screen import Report

_PROGRAMS = """
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
    default_commission_model)
  select uuidv7(), %(org)s, 'More ' || n, 'more-' || n, 'Percentage', 20, 'Cps' from generate_series(1, 2) n
"""
# Of ten thousand rows a hundred are one affiliate's with one status. One second apart, ending now.
_LOAD = """
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, sub_id, occurred_at, hold_until,
    created_at)
  select uuidv7(make_interval(secs => n - %(all)s)), %(org)s, (%(programs)s::uuid[])[1 + n %% 3],
    (%(affiliates)s::uuid[])[1 + n %% 10], 's2s', 'load-' || n, 10000, 'USD', 2000,
    (array['Pending', 'Pending', 'Approved', 'Approved', 'Approved', 'Approved', 'Approved', 'Paid', 'Denied',
      'Invalidated'])[1 + n / 10 %% 10],
    case n / 100 %% 20 when 0 then 'LeadReward' when 1 then 'ClickReward' else 'OneTime' end, 'program', 'Percentage',
    20, case when n %% 50 = 7 then 'news' when n %% 2 = 0 then 'tag-' || n %% 40 end, at, at + interval '30 days', at
  from (select n, now() + make_interval(secs => n - %(all)s) as at
    from generate_series(%(first)s::int, %(last)s::int) n) made
"""


def load(cursor: Any, seller: Brand, conversions: int, report: Report) -> list[Any]:
    """Insert the conversions and return the ids of the brand's three programs."""
    cursor.execute(_PROGRAMS, {"org": seller.id})
    cursor.execute("select array_agg(id) from program where organization_id = %s", (seller.id,))
    programs: list[Any] = cursor.fetchone()[0]
    facts = {"org": seller.id, "programs": programs, "affiliates": seller.affiliate_ids[:10], "all": conversions}
    history.insert(cursor, _LOAD, facts, conversions, report)  # the affiliates are in one of the programs
    return programs
