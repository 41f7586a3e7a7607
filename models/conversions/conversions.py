"""Conversions with the lines of their history. Money is minor units of the row's currency.

Their lists are in `models.conversions.lists`, their refunds in `models.conversions.refunds`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from models.db import db
from models.hot import Hot
from models.ids import new_id


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion row. Times are aware UTC; `commission_cents` is what was earned before any reversal.

    `attribution_log` is as `domain.attribution.log` writes it, None where the rest of the row says as much.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    source: str
    external_event_id: str
    amount_cents: int
    currency: str
    commission_cents: int
    status: str
    type: str
    rate_source: str
    rate_type: str | None
    rate_value: Decimal | None
    is_test: bool
    occurred_at: datetime
    hold_until: datetime
    created_at: datetime
    payability: str = "payable"
    attribution_method: str | None = None
    coupon_code: str | None = None
    sub_id: str | None = None
    processor_customer_id: str | None = None
    processor_subscription_id: str | None = None
    customer_name: str | None = None
    customer_email: str | None = None
    customer_avatar_url: str | None = None
    attribution_log: list[str] | None = None
    parent_id: UUID | None = None
    payout_locked: bool = False
    refunded_cents: int = 0
    reversed_cents: int = 0
    refunded_at: datetime | None = None
    paid_cents: int = 0

    @property
    def net_commission_cents(self) -> int:
        """What the affiliate still earns."""
        return self.commission_cents - self.reversed_cents


_FIELDS = tuple(Conversion.__dataclass_fields__)
_COLUMNS = ", ".join(_FIELDS)
_INSERT_TEXT = f"insert into conversion ({_COLUMNS}) values ({', '.join(['%s'] * len(_FIELDS))})"
_INSERT = Hot(_INSERT_TEXT)
_INSERT_UNLESS_KNOWN = Hot(
    f"{_INSERT_TEXT} on conflict (organization_id, source, external_event_id) do nothing returning id"
)


def stage_insert(conversion: Conversion) -> None:
    """Stage a conversion row."""
    db.stage(_INSERT, _values(conversion))


def insert_unless_known(conversion: Conversion) -> bool:
    """Insert a conversion row now; False when its source knows this external event id already."""
    return bool(db.run(_INSERT_UNLESS_KNOWN, _values(conversion)))


def _values(conversion: Conversion) -> tuple[object, ...]:
    return tuple(getattr(conversion, name) for name in _FIELDS)


_INSERT_EVENT = Hot("""
insert into conversion_event
  (id, organization_id, conversion_id, event_type, amount_cents, commission_cents, occurred_at)
values (%s, %s, %s, %s, %s, %s, %s)
""")


def stage_event(
    *,
    organization_id: UUID,
    conversion_id: UUID,
    event_type: str,
    amount_cents: int,
    commission_cents: int,
    occurred_at: datetime,
) -> None:
    """Stage one line of a conversion's own history (`initial`, `renewal`, `refund`)."""
    db.stage(
        _INSERT_EVENT,
        (new_id(), organization_id, conversion_id, event_type, amount_cents, commission_cents, occurred_at),
    )


_REVENUE = Hot(
    "insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)"
    " values (%s, %s, %s, %s, %s) on conflict (organization_id, affiliate_id, day, currency) do update"
    " set net_cents = r.net_cents + excluded.net_cents"
)


def stage_revenue(conversion: Conversion, *, amount_cents: int) -> None:
    """Stage a change of the affiliate's net referred revenue on the day of the sale; test sales do not count."""
    if conversion.is_test or amount_cents == 0:
        return
    day = conversion.occurred_at.astimezone(UTC).date()
    db.stage(_REVENUE, (conversion.organization_id, conversion.affiliate_id, day, conversion.currency, amount_cents))


@dataclass(frozen=True, slots=True)
class DayRevenue:
    """Net revenue of one day in one currency, with the newest rate published by then (None: no rate)."""

    currency: str
    net_cents: int
    per_usd: Decimal | None
    home_per_usd: Decimal | None


def revenue_by_day(*, organization_id: UUID, affiliate_id: UUID, home_currency: str) -> list[DayRevenue]:
    """Return an affiliate's lifetime net referred revenue, one row per day and currency."""
    rows = db.run(
        "select r.currency, r.net_cents::bigint, f.per_usd, h.per_usd from affiliate_revenue r"
        " left join lateral (select per_usd from fx_rate where currency = r.currency and published_on <= r.day"
        "  order by published_on desc limit 1) f on true"
        " left join lateral (select per_usd from fx_rate where currency = %s and published_on <= r.day"
        "  order by published_on desc limit 1) h on true"
        " where r.organization_id = %s and r.affiliate_id = %s",
        (home_currency, organization_id, affiliate_id),
    )
    return [DayRevenue(*row) for row in rows]


_FIND_TEXT = f"select {_COLUMNS} from conversion where organization_id = %s and id = %s"
_FIND = Hot(_FIND_TEXT)
_LOCK = Hot(f"{_FIND_TEXT} for update")


def find(*, organization_id: UUID, conversion_id: UUID) -> Conversion | None:
    """Return one conversion of the organization, or None."""
    row = db.row(_FIND, (organization_id, conversion_id))
    return Conversion(*row) if row else None


def lock(*, organization_id: UUID, conversion_id: UUID) -> Conversion | None:
    """Return one conversion, locked until the transaction ends."""
    row = db.row(_LOCK, (organization_id, conversion_id))
    return Conversion(*row) if row else None


def lock_override(*, organization_id: UUID, parent_id: UUID) -> Conversion | None:
    """Return the override row of a parent, locked. Lock the parent first."""
    row = db.row(
        f"select {_COLUMNS} from conversion where organization_id = %s and parent_id = %s for update",
        (organization_id, parent_id),
    )
    return Conversion(*row) if row else None


def followers(*, organization_id: UUID, conversion_id: UUID) -> tuple[bool, bool]:
    """Say whether a conversion's override row is written, and whether any payout ever named the conversion.

    True is only final under the conversion's lock.
    """
    row = db.row(
        "select exists (select from conversion where organization_id = %(org)s and parent_id = %(id)s),"
        " exists (select from payout_line where organization_id = %(org)s and conversion_id = %(id)s)",
        {"org": organization_id, "id": conversion_id},
    )
    assert row is not None
    return bool(row[0]), bool(row[1])


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a conversion's history."""

    id: UUID
    event_type: str
    amount_cents: int
    commission_cents: int
    occurred_at: datetime


def events(*, organization_id: UUID, conversion_id: UUID) -> list[Event]:
    """Return a conversion's history, oldest first."""
    rows = db.run(
        "select id, event_type, amount_cents, commission_cents, occurred_at from conversion_event"
        " where organization_id = %s and conversion_id = %s order by occurred_at, id",
        (organization_id, conversion_id),
    )
    return [Event(*row) for row in rows]


# In the order of their ids a conversion comes before its override, as everywhere.
_RENEW_HOLDS = """
with pending as (
  select id from conversion where organization_id = %(org)s and status = 'Pending' and id > %(after)s
  order by id limit %(limit)s for no key update
), renewed as (
  update conversion c set hold_until = c.occurred_at + make_interval(days => o.payout_grace_days)
  from pending, organization o
  where c.organization_id = %(org)s and c.id = pending.id and o.id = c.organization_id
)
select id from pending order by id desc
"""


def renew_holds(*, organization_id: UUID, after: UUID, limit: int) -> UUID | None:
    """Set the hold of the next Pending conversions anew, from the organization's present grace days.

    Takes up to `limit` of them, by id, after one; returns the last one's id, None when there were fewer.
    """
    rows = db.run(_RENEW_HOLDS, {"org": organization_id, "after": after, "limit": limit})
    return rows[0][0] if len(rows) == limit else None
