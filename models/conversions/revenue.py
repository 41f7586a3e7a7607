"""Affiliates' referred revenue, net of refunds, by day and currency: stored in addition to conversions, for tiers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal
from uuid import UUID

from models.conversions.conversions import Conversion
from models.db import db
from models.prepared_statements import PreparedStatement
from models.table import Rows

_ADD = PreparedStatement("""
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
select %s, added.* from unnest(%s::uuid[], %s::date[], %s::text[], %s::bigint[])
  as added (affiliate_id, day, currency, net_cents)
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
""")


def stage(conversion: Conversion, *, amount_cents: int) -> None:
    """Stage a change of the affiliate's net revenue on the day of the sale; test sales do not count."""
    _stage([(conversion, amount_cents)])


def stage_all(conversions: Sequence[Conversion]) -> None:
    """Stage the revenue of one organization's conversions in one statement; test sales do not count."""
    _stage([(conversion, conversion.amount_cents) for conversion in conversions])


def _stage(changes: Sequence[tuple[Conversion, int]]) -> None:
    days: Counter[tuple[UUID, date, str]] = Counter()
    for conversion, amount_cents in changes:
        if not conversion.is_test and amount_cents:
            day = conversion.occurred_at.astimezone(UTC).date()
            days[conversion.affiliate_id, day, conversion.currency] += amount_cents
    if days:
        # In one order, so that two transactions that change several of the same days never deadlock.
        affiliates, dates, currencies = zip(*sorted(days), strict=True)
        amounts = [days[key] for key in sorted(days)]
        organization_id = changes[0][0].organization_id
        db.stage(_ADD, (organization_id, list(affiliates), list(dates), list(currencies), amounts))


@dataclass(frozen=True, slots=True)
class DayRevenue:
    """Net revenue of one day in one currency, with the newest rate published until then (None: no rate)."""

    currency: str
    net_cents: int
    per_usd: Decimal | None
    home_per_usd: Decimal | None


_DAYS = Rows(DayRevenue)
_BY_DAY = """
select r.currency, r.net_cents::bigint, f.per_usd, h.per_usd from affiliate_revenue r
left join lateral (
  select per_usd from fx_rate where currency = r.currency and published_on <= r.day order by published_on desc limit 1
) f on true
left join lateral (
  select per_usd from fx_rate where currency = %s and published_on <= r.day order by published_on desc limit 1
) h on true
where r.organization_id = %s and r.affiliate_id = %s
"""


def list_by_day(*, organization_id: UUID, affiliate_id: UUID, home_currency: str) -> list[DayRevenue]:
    """Return an affiliate's lifetime net referred revenue, one row per day and currency."""
    return _DAYS.all(_BY_DAY, (home_currency, organization_id, affiliate_id))
