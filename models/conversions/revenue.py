"""What affiliates' sales brought, net of refunds, by day and currency: kept beside the conversions, for tiers."""

from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from uuid import UUID

from models.conversions.conversions import Conversion
from models.db import db
from models.hot import Hot
from models.table import Rows

_ADD = Hot("""
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
values (%s, %s, %s, %s, %s)
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
""")


def stage(conversion: Conversion, *, amount_cents: int) -> None:
    """Stage a change of the affiliate's net referred revenue on the day of the sale; test sales do not count."""
    if conversion.is_test or amount_cents == 0:
        return
    day = conversion.occurred_at.astimezone(UTC).date()
    db.stage(_ADD, (conversion.organization_id, conversion.affiliate_id, day, conversion.currency, amount_cents))


@dataclass(frozen=True, slots=True)
class DayRevenue:
    """Net revenue of one day in one currency, with the newest rate published by then (None: no rate)."""

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


def by_day(*, organization_id: UUID, affiliate_id: UUID, home_currency: str) -> list[DayRevenue]:
    """Return an affiliate's lifetime net referred revenue, one row per day and currency."""
    return _DAYS.all(_BY_DAY, (home_currency, organization_id, affiliate_id))
