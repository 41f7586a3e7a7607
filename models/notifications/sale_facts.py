"""The facts that decide whether a sale is an organization's first, or a large one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from domain import jobs
from models.db import db
from models.jobs import rows
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_SALE_JOB = rows.kind_columns(jobs.NOTIFICATION_SALE)
# Conversions that were not recorded by tracking or by a connection.
_RECORDED = "source not in ('import', 'manual', 'restore')"
# How many earlier conversions are searched for a sale.
_MAX_SEARCHED = 1_000


@dataclass(frozen=True, slots=True)
class ForeignSale:
    """A new sale in another currency than the amount from which sales are large, in major units."""

    conversion_id: UUID
    currency: str
    amount_major: Decimal


_STAGE_FOREIGN = PreparedStatement("""
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select %(org)s::uuid, %(queue)s::text, %(name)s::text, jsonb_build_object('conversion_id', s.id),
  %(org)s::uuid::text, %(max_attempts)s::int, %(lease_s)s::int
from unnest(%(ids)s::uuid[], %(currencies)s::text[], %(amounts)s::numeric[]) s (id, currency, amount)
cross join lateral (select case when s.currency = 'USD' then 1 else
  (select per_usd from fx_rate where currency = s.currency order by published_on desc limit 1) end as rate) sold
cross join (select case when %(threshold_currency)s::text = 'USD' then 1 else
  (select per_usd from fx_rate where currency = %(threshold_currency)s order by published_on desc limit 1) end as rate
) home
where s.amount / sold.rate * home.rate >= %(threshold)s::numeric
""")


def stage_foreign_candidates(
    sales: Sequence[ForeignSale], *, organization_id: UUID, threshold_major: Decimal, threshold_currency: str
) -> None:
    """Stage the job of each sale that reaches an amount at the newest rates; none without a rate."""
    db.stage(
        _STAGE_FOREIGN,
        {
            "org": organization_id,
            "ids": [sale.conversion_id for sale in sales],
            "currencies": [sale.currency for sale in sales],
            "amounts": [sale.amount_major for sale in sales],
            "threshold": threshold_major,
            "threshold_currency": threshold_currency,
            **_SALE_JOB,
        },
    )


@dataclass(frozen=True, slots=True)
class SaleToCheck:
    """A sale with the organization's terms for notifications; `first_sale_at` None: no first sale is recorded.

    `earlier_count` sales were before it, the oldest of them at `earlier_since` (None without any).
    """

    amount_cents: int
    currency: str
    type: str
    created_at: datetime
    earlier_count: int
    earlier_since: datetime | None
    home_currency: str
    large_sale_cents: int | None
    large_sale_currency: str | None
    first_sale_at: datetime | None


_SALES = Rows(SaleToCheck)
_EARLIER = f"""left join lateral (
  select count(*) as earlier_count, min(created_at) as earlier_since from (
    select * from conversion
    where organization_id = c.organization_id and (created_at, id) < (c.created_at, c.id)
    order by created_at desc, id desc limit {_MAX_SEARCHED}
  ) before
  where type in ('OneTime', 'Recurring') and {_RECORDED} and not is_test and parent_id is null and status <> 'Denied'
) earlier on o.first_sale_at is null"""
_OF_ORGANIZATION = ("home_currency", "large_sale_cents", "large_sale_currency", "first_sale_at")
_SALE = columns(
    SaleToCheck,
    "c",
    earlier_count="coalesce(earlier.earlier_count, 0)",
    earlier_since="earlier.earlier_since",
    **{name: f"o.{name}" for name in _OF_ORGANIZATION},
)
_FIND = f"""
select {_SALE} from conversion c join organization o on o.id = c.organization_id {_EARLIER}
where c.organization_id = %s and c.id = %s and c.status <> 'Denied'
"""


def find(*, organization_id: UUID, conversion_id: UUID) -> SaleToCheck | None:
    """Return a sale with the terms; None if it was deleted or denied since.

    Searches a bounded number of earlier conversions.
    """
    return _SALES.first(_FIND, (organization_id, conversion_id))


_CLAIM = """
update organization set first_sale_at = %s where id = %s and first_sale_at is null returning 1
"""


def claim_first_sale(organization_id: UUID, *, at: datetime) -> bool:
    """Record when the organization's first sale was; False if one was recorded already."""
    return bool(db.run(_CLAIM, (at, organization_id)))
