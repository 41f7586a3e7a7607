"""How long statistics of programs, and metrics of a year, take beside one plain aggregate over 1,000,000 conversions.

Three programs of one brand with 33 affiliates each, a year of conversions: 90 % in the home currency USD, 10 % in EUR
with a rate for every weekday; those of the last 30 days are pending, most others approved. Loaded, vacuumed, analyzed.
In: `pipelines.programs.numbers.stats` in a unit of work: programs, currencies, rates, what the days owe. Every day is
reckoned; then a sale on each of ten days is refunded in part, and the conversions of these days are added up, as they
are of days whose hold ends today. The anchor groups by program and status and sums, under the same row-level security
and with the same leave to read the whole table. Both take turns on one connection; medians.
The metrics are `pipelines.programs.measuring.measure`, a year by month, out of the days that are kept of these rows.
Out: HTTP. Value and anchor are times; their ratio is the figure.
"""

import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history
from bench.ground.machine import owner
from bench.plan import Plan
from bench.screen import Report
from domain.programs.days import DayRange
from domain.programs.metrics import MetricsGroup
from models import db
from models.programs import kept_days
from models.programs.metrics import MetricsOf
from pipelines import reckoning
from pipelines.programs import measuring, numbers

_CONVERSIONS, _ROUNDS, _CHUNK = 1_000_000, 9, 100_000

_PROGRAMS = """
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
    default_commission_model)
  select uuidv7(), %(org)s, 'More ' || n, 'more-' || n, 'Percentage', 20, 'Cps' from generate_series(1, 2) n;
insert into fx_rate (currency, published_on, per_usd)
  select 'EUR', day, 0.85 + extract(doy from day) * 0.000123456789
  from generate_series(current_date - 400, current_date, interval '1 day') day where extract(isodow from day) < 6
"""
# A third of the affiliates in each program.
_SPREAD = """
update affiliate a set program_id = (%(programs)s::uuid[])[1 + (number - 1) %% 3]
from unnest(%(affiliates)s::uuid[]) with ordinality as named (id, number)
where a.id = named.id
"""
_LOAD = """
with made as (
  select n, now() - interval '365 days' * (1 - n / %(all)s::float) as at
  from generate_series(%(first)s::int, %(last)s::int) n
)
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select uuidv7(at - now()), %(org)s, (%(programs)s::uuid[])[1 + n %% 3], (%(affiliates)s::uuid[])[1 + n %% 99],
    's2s', 'load-' || n, 10000 + n %% 50000, case when n %% 10 = 0 then 'EUR' else 'USD' end, 2000 + n %% 10007,
    case when at > now() - interval '30 days' then 'Pending' when n %% 17 = 0 then 'Denied'
      when n %% 19 = 0 then 'Refunded' else 'Approved' end,
    (array['OneTime', 'Recurring', 'Recurring', 'LeadReward', 'ClickReward'])[1 + n %% 5],
    'program', 'Percentage', 20, at, at + interval '30 days', at from made
"""
# One sale on each of ten days.
_REFUNDS = """
update conversion set refunded_cents = 1, reversed_cents = 1 where organization_id = %(org)s and id = any(array(
  select distinct on (day) c.id from generate_series(current_date - 45, current_date, interval '5 days') day
  join program p on p.organization_id = %(org)s
  cross join lateral (
    select c.id from conversion c where c.organization_id = p.organization_id and c.program_id = p.id
      and c.occurred_at > day and c.type = 'OneTime' order by c.occurred_at limit 1
  ) c order by day, c.id))
"""
_AGGREGATE = (
    "select program_id, status, count(*), sum(commission_cents - reversed_cents) from conversion"
    " where organization_id = %s group by 1, 2"
)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the two figures."""
    url = plan.machine.fresh("program_stats")
    seller = brand.create(url)
    conversions = plan.size(_CONVERSIONS)
    with owner(url) as cursor:
        with plan.screen.phase("conversions to load", total=conversions) as report:
            _load(cursor, seller, conversions, report)
        _keep_days(seller)
        _change_days(seller)
        history.settle_down(cursor)
    figures = []
    for name, work, most in (("program_stats_1m", _statistics, 0.2), ("metrics_1m", _metrics, 0.2)):
        ours, aggregate = partial(_timed, seller, work), partial(_timed, seller, _aggregate)
        ours(), aggregate()
        value, anchor = interleaved(ours, aggregate, rounds=_ROUNDS)
        figures.append(Figure(name, value, "ms", Target(most, is_ceiling=True), anchor))
    return figures


def _keep_days(seller: brand.Brand) -> None:
    with db.any_org_work():
        kept_days.stage_recount(seller.id)
    with db.any_org_work():
        while kept_days.any_org_fold(limit=_CHUNK) == _CHUNK:
            pass
    while _reckoned(seller):
        pass


def _reckoned(seller: brand.Brand) -> bool:
    """Reckon the next days; return whether there were any."""
    with db.unit_of_work(seller.id):
        reckoning.reckon(seller.id)
        return bool(db.db.run("select 1 from day_to_reckon where organization_id = %s limit 1", (seller.id,)))


def _change_days(seller: brand.Brand) -> None:
    with db.unit_of_work(seller.id):
        db.db.stage(_REFUNDS, {"org": seller.id})


def _load(cursor: Any, seller: brand.Brand, conversions: int, report: Report) -> None:
    cursor.execute(_PROGRAMS, {"org": seller.id})
    cursor.execute("select array_agg(id) from program where organization_id = %s", (seller.id,))
    facts = {"org": seller.id, "affiliates": seller.affiliate_ids[:99], "all": conversions}
    facts["programs"] = cursor.fetchone()[0]
    # The owner may skip the checks, of their links too.
    cursor.execute("begin; set local session_replication_role = replica")
    cursor.execute(_SPREAD, facts)
    cursor.execute("commit")
    history.insert(cursor, _LOAD, facts, conversions, report)


def _timed(seller: brand.Brand, work: Any) -> float:
    started = time.perf_counter()
    with db.unit_of_work(seller.id):
        work(seller)
    return (time.perf_counter() - started) * 1000


def _statistics(seller: brand.Brand) -> None:
    found = numbers.stats(organization_id=seller.id, now=datetime.now(UTC))
    assert all(entry.available.home_cents and entry.available.held is None for entry in found)


def _metrics(seller: brand.Brand) -> None:
    today = datetime.now(UTC).date()
    year = DayRange(today - timedelta(days=365), today)
    found = measuring.measure(MetricsOf(seller.id), year, MetricsGroup.month).found
    assert found.totals.sales > 0


def _aggregate(seller: brand.Brand) -> None:
    db.db.stage("set local enable_seqscan = on")
    db.db.run(_AGGREGATE, (seller.id,))
