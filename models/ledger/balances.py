"""Balances of affiliates by currency: sums of ledger rows, split into on hold, payable, on its way and paid.

For some affiliates of a brand, or for all affiliates of one person across brands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models import conditions
from models.table import Rows

_OURS = "mine as (select %(org)s::uuid as organization_id, unnest(%(affiliates)s::uuid[]) as id)"
_MINE = f"mine as materialized (select m.organization_id, m.id from affiliate m where {conditions.EVER_OF_PERSON})"
_OF_CONVERSION = "on c.organization_id = mine.organization_id and c.affiliate_id = mine.id"
_FREE = """not exists (select from payout_line l
    where l.organization_id = c.organization_id and l.conversion_id = c.id and l.is_open)"""
_UNPAID = f"c.status in {conditions.UNPAID} and not c.payout_locked and not c.is_test"
_LEFT = f"{conditions.earned_cents('c')} - c.paid_cents"


@dataclass(frozen=True, slots=True)
class CurrencyBalance:
    """An affiliate's balance in one currency, in its minor units.

    `on_hold_cents` waits for its day, for an approval or for the end of a dispute; `on_its_way_cents` is in payouts
    that are not Paid; `payable_cents` is the rest of what the ledger owes, negative if more was paid than earned.
    `paid_cents` was paid, less what later payouts held back.
    """

    currency: str
    on_hold_cents: int
    payable_cents: int
    on_its_way_cents: int
    paid_cents: int


class _Share(NamedTuple):
    affiliate_id: UUID
    balance: CurrencyBalance


_BALANCES_ROWS = Rows(_Share)
# Imported history is never payable and is in the ledger only if it was refunded, so those entries are subtracted again.
_PARTS = f"""
part (id, currency, owed, held, sent, paid) as (
  select mine.id, l.currency, coalesce(sum(l.amount_cents) filter (where l.milestone_id is null), 0),
    0::numeric, 0::numeric,
    coalesce(-sum(l.amount_cents) filter (where l.kind in ('pay', 'clawback', 'escrow_out')), 0)
  from mine join ledger_entry l on l.organization_id = mine.organization_id and l.affiliate_id = mine.id
  where not l.is_test group by mine.id, l.currency
  union all
  select mine.id, l.currency, -sum(l.amount_cents), 0, 0, 0
  from mine join ledger_entry l on l.organization_id = mine.organization_id and l.affiliate_id = mine.id
  join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
  where l.kind in ('reverse', 'restore') and c.payout_locked and not l.is_test group by mine.id, l.currency
  union all
  select mine.id, c.currency, 0, sum({_LEFT}), 0, 0 from mine join conversion c {_OF_CONVERSION}
  where {_UNPAID} and {_FREE}
    and (c.status = 'Pending' and (c.hold_until > %(now)s or c.needs_approval) or c.disputed_at is not null)
  group by mine.id, c.currency
  union all
  select mine.id, l.native_currency, 0, 0, sum(l.native_amount_cents), 0
  from mine join payout p on p.organization_id = mine.organization_id and p.affiliate_id = mine.id
  join payout_line l on l.organization_id = p.organization_id and l.payout_id = p.id
  where p.status <> 'Paid' and p.voided_at is null and l.is_open group by mine.id, l.native_currency
  union all
  select mine.id, r.native_currency, sum(r.native_amount_cents), 0, sum(r.native_amount_cents), 0
  from mine join payout p on p.organization_id = mine.organization_id and p.affiliate_id = mine.id
  join deal_release r on r.organization_id = p.organization_id and r.payout_id = p.id
  where p.status <> 'Paid' and p.voided_at is null group by mine.id, r.native_currency
)
"""
_EACH = """
select id, currency, sum(held)::bigint, sum(owed - held - sent)::bigint, sum(sent)::bigint, sum(paid)::bigint
from part group by id, currency
having sum(held) <> 0 or sum(owed - held - sent) <> 0 or sum(sent) <> 0 or sum(paid) <> 0
"""
_BALANCES = f"with {_OURS}, {_PARTS} {_EACH} order by id, currency"


def list_of_affiliates(
    *, organization_id: UUID, affiliate_ids: Sequence[UUID], now: datetime
) -> Mapping[UUID, list[CurrencyBalance]]:
    """Return the balances of each of these affiliates, by currency; zero balances are left out.

    Budget: 1 statement.
    """
    balances: dict[UUID, list[CurrencyBalance]] = {affiliate_id: [] for affiliate_id in affiliate_ids}
    params = {"org": organization_id, "affiliates": list(affiliate_ids), "now": now}
    for share in _BALANCES_ROWS.all(_BALANCES, params):
        balances[share.affiliate_id].append(share.balance)
    return balances


@dataclass(frozen=True, slots=True)
class ComingMoney:
    """The amount that becomes payable on a day (UTC) in one currency, in full from `payable_at` on. Minor units."""

    day: str
    currency: str
    amount_cents: int
    payable_at: datetime


@dataclass(frozen=True, slots=True)
class PersonsMoney:
    """A person's balances by currency, and the amounts that become payable by day, soonest first."""

    balances: Sequence[CurrencyBalance]
    coming: Sequence[ComingMoney]


class _Line(NamedTuple):
    """A balance or a coming amount; the other one is None."""

    balance: CurrencyBalance | None
    coming: ComingMoney | None


_LINES = Rows(_Line)
# Both in one statement, which sees one snapshot: between two, a hold could begin or end, and the amounts on hold would
# differ from the coming ones.
_OF_PERSON = f"""
with {_MINE}, {_PARTS}, each (id, currency, held, payable, sent, paid) as ({_EACH}),
balance as (
  select currency, sum(held)::bigint, sum(payable)::bigint, sum(sent)::bigint, sum(paid)::bigint
  from each group by currency
),
coming (day, currency, cents, payable_at) as (
  select (c.hold_until at time zone 'UTC')::date::text, c.currency, sum({_LEFT})::bigint, max(c.hold_until)
  from mine join conversion c {_OF_CONVERSION}
  where {_UNPAID} and c.status = 'Pending' and c.hold_until > %(now)s and c.disputed_at is null
    and not c.needs_approval and {_FREE}
  group by 1, 2 having sum({_LEFT}) <> 0 order by 1, 2 limit %(days)s
)
select b.*, null as day, null as of_day, null::bigint, null::timestamptz from balance b
union all
select null, null, null, null, null, c.* from coming c
order by currency, day, of_day
"""


def any_org_find_of_person(*, account_id: UUID | None, email: str | None, now: datetime, days: int) -> PersonsMoney:
    """Return a person's balances, and the next up to `days` days on which more becomes payable by the stored holds.

    `email` is their verified one, or None. Budget: 1 statement.
    """
    lines = _LINES.all(_OF_PERSON, {"account": account_id, "email": email, "now": now, "days": days})
    return PersonsMoney(
        balances=[line.balance for line in lines if line.balance is not None],
        coming=[line.coming for line in lines if line.coming is not None],
    )
