"""How much longer the statistics of programs take than one plain aggregate over the same 1,000,000 conversions.

Three programs of one brand, a year of conversions: 90 % in the home currency USD, 10 % in EUR with a rate for every
weekday; those of the last 30 days are pending, most others approved. Loaded in bulk, vacuumed, analyzed.
In: `pipelines.programs.numbers.stats` in a unit of work: programs, currencies, rates, every conversion valued by its
date. The anchor groups by program and status and sums, under the same row-level security and with the same leave to
read the whole table. Both take turns on one connection; medians.
Out: HTTP. Value and anchor are times; their ratio is the figure.
"""

import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history
from bench.ground.machine import owner
from bench.plan import Plan
from bench.screen import Report
from models import db
from pipelines.programs import numbers

_CONVERSIONS, _ROUNDS, _CHUNK = 1_000_000, 9, 100_000

_PROGRAMS = """
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
    default_commission_model)
  select uuidv7(), %(org)s, 'More ' || n, 'more-' || n, 'Percentage', 20, 'Cps' from generate_series(1, 2) n;
insert into fx_rate (currency, published_on, per_usd)
  select 'EUR', day, 0.85 + extract(doy from day) * 0.000123456789
  from generate_series(current_date - 400, current_date, interval '1 day') day where extract(isodow from day) < 6
"""
_LOAD = """
with made as (
  select n, now() - interval '365 days' * (1 - n / %(all)s::float) as at
  from generate_series(%(first)s::int, %(last)s::int) n
)
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select uuidv7(at - now()), %(org)s, (%(programs)s::uuid[])[1 + n %% 3], %(affiliate)s, 's2s', 'load-' || n,
    10000 + n %% 50000, case when n %% 10 = 0 then 'EUR' else 'USD' end, 2000 + n %% 10007,
    case when at > now() - interval '30 days' then 'Pending' when n %% 17 = 0 then 'Denied'
      when n %% 19 = 0 then 'Refunded' else 'Approved' end,
    (array['OneTime', 'Recurring', 'Recurring', 'LeadReward', 'ClickReward'])[1 + n %% 5],
    'program', 'Percentage', 20, at, at + interval '30 days', at from made
"""
_AGGREGATE = (
    "select program_id, status, count(*), sum(commission_cents - reversed_cents) from conversion"
    " where organization_id = %s group by 1, 2"
)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("program_stats")
    seller = brand.create(url)
    conversions = plan.size(_CONVERSIONS)
    with owner(url) as cursor:
        with plan.screen.phase("conversions to load", total=conversions) as report:
            _load(cursor, seller, conversions, report)
        history.settle_down(cursor)
    statistics, aggregate = partial(_timed, seller, _statistics), partial(_timed, seller, _aggregate)
    statistics(), aggregate()
    value, anchor = interleaved(statistics, aggregate, rounds=_ROUNDS)
    return [Figure("program_stats_1m", value, "ms", Target(1.5, is_ceiling=True), anchor)]


def _load(cursor: Any, seller: brand.Brand, conversions: int, report: Report) -> None:
    cursor.execute(_PROGRAMS, {"org": seller.id})
    cursor.execute("select array_agg(id) from program where organization_id = %s", (seller.id,))
    facts = {"org": seller.id, "affiliate": seller.affiliate_ids[0], "all": conversions}
    facts["programs"] = cursor.fetchone()[0]
    for first in range(1, conversions + 1, _CHUNK):
        last = min(first + _CHUNK - 1, conversions)
        # The one affiliate is in one of the programs; the owner may skip the check.
        cursor.execute("begin; set local session_replication_role = replica")
        cursor.execute(_LOAD, facts | {"first": first, "last": last})
        cursor.execute("commit")
        report(last)


def _timed(seller: brand.Brand, work: Any) -> float:
    started = time.perf_counter()
    with db.unit_of_work(seller.id):
        work(seller)
    return (time.perf_counter() - started) * 1000


def _statistics(seller: brand.Brand) -> None:
    found = numbers.stats(organization_id=seller.id, now=datetime.now(UTC))
    assert all(entry.available.home_cents and entry.available.held is None for entry in found)


def _aggregate(seller: brand.Brand) -> None:
    db.db.stage("set local enable_seqscan = on")
    db.db.run(_AGGREGATE, (seller.id,))
