"""Payouts as their affiliate sees them, across brands, with the lines of each."""

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from models import conditions
from models.listing import Position
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns


class PayoutReceipt(NamedTuple):
    """A payout as its affiliate sees it, in US cents. Ids and days are text. Does not contain the destination.

    `reference` is the rail's or the brand's reference to the payment; `deal_title` is set for a milestone of a deal.
    """

    id: str
    affiliate_id: str
    program_id: str
    program_name: str
    organization_id: str
    organization_name: str
    deal_title: str | None
    amount_cents: int
    currency: str
    method: str
    status: str
    reference: str | None
    failure_reason: str | None
    period_start: str
    period_end: str
    created_at: datetime
    submitted_at: datetime | None
    paid_at: datetime | None
    failed_at: datetime | None
    voided_at: datetime | None


class ReceiptLine(NamedTuple):
    """What a payout pays for one conversion (or milestone, then `conversion_id` is None). Ids and days are text.

    Negative if it holds back a reversal made after payment; `was_denied`: the brand denied the conversion.
    `is_advance`: it nets what was paid before a restore.
    """

    conversion_id: str | None
    type: str | None
    occurred_at: datetime | None
    native_amount_cents: int
    native_currency: str
    fx_rate: Decimal
    fx_rate_date: str
    amount_cents: int
    reversed_native_cents: int
    reversed_amount_cents: int
    reversed_at: datetime | None
    was_denied: bool
    is_advance: bool


_REFERENCE = """coalesce(p.external_transaction_id, p.processor_transfer_id, p.wallet_transaction_id,
  p.gp_outbound_payment_id, p.wallet_batch_id)"""
_COLUMNS = columns(
    PayoutReceipt,
    "p",
    id="p.id::text",
    affiliate_id="p.affiliate_id::text",
    program_id="p.program_id::text",
    program_name="g.name",
    organization_id="p.organization_id::text",
    organization_name="o.name",
    deal_title="d.title",
    reference=_REFERENCE,
    period_start="p.period_start::text",
    period_end="p.period_end::text",
)
_FROM = """
join program g on g.organization_id = p.organization_id and g.id = p.program_id
join organization o on o.id = p.organization_id
left join deal_milestone s on s.organization_id = p.organization_id and s.id = p.milestone_id
left join deal d on d.organization_id = p.organization_id and d.id = s.deal_id
"""
# The newest of each of their affiliates, then the newest of those.
_PAGE = f"""
select {_COLUMNS}
from (
  select p.* from affiliate m cross join lateral (
    select * from payout p where p.organization_id = m.organization_id and p.affiliate_id = m.id
      and (%(before)s::timestamptz is null or (p.created_at, p.id) < (%(before)s, %(before_id)s::uuid))
    order by p.created_at desc, p.id desc limit %(limit)s
  ) p
  where {{whose}}
  order by p.created_at desc, p.id desc limit %(limit)s
) p {_FROM}
order by p.created_at desc, p.id desc
"""
_OF_PERSON = PreparedStatement(_PAGE.format(whose=conditions.EVER_OF_PERSON))
_OF_AFFILIATE = PreparedStatement(_PAGE.format(whose=conditions.OF_AFFILIATE))
_FIND = Lookup(f"""
select {_COLUMNS}
from payout p join affiliate m on m.organization_id = p.organization_id and m.id = p.affiliate_id {_FROM}
where p.id = %(id)s and {conditions.EVER_OF_PERSON}
""")
_receipts = Rows(PayoutReceipt)


def any_org_list_receipts(
    *, account_id: UUID | None, email: str | None, after: Position | None, limit: int
) -> list[PayoutReceipt]:
    """Return up to `limit` payouts to a person, newest first, after the keyset position `after`. Budget: 1 statement.

    `email` is their verified one, or None.
    """
    before, before_id = after or (None, None)
    params = {"account": account_id, "email": email, "before": before, "before_id": before_id, "limit": limit}
    return _receipts.all(_OF_PERSON, params)


def list_of_affiliate(
    *, organization_id: UUID, affiliate_id: UUID, after: Position | None, limit: int
) -> list[PayoutReceipt]:
    """Return up to `limit` payouts to one affiliate, newest first, after a position. Budget: 1 statement."""
    before, before_id = after or (None, None)
    params = {"org": organization_id, "affiliate": affiliate_id, "before": before, "before_id": before_id}
    return _receipts.all(_OF_AFFILIATE, params | {"limit": limit})


def any_org_find_receipt(*, account_id: UUID | None, email: str | None, payout_id: UUID) -> PayoutReceipt | None:
    """Return one payout to a person; None for one that is not theirs. Budget: 1 statement."""
    return _receipts.first(_FIND, {"account": account_id, "email": email, "id": payout_id})


_LINE = columns(
    ReceiptLine,
    "l",
    conversion_id="l.conversion_id::text",
    type="c.type",
    occurred_at="c.occurred_at",
    fx_rate_date="l.fx_rate_date::text",
    was_denied=f"c.status in {conditions.EARNS_NOTHING}",
    is_advance="c.source = 'restore'",
)
_RELEASED = columns(
    ReceiptLine,
    "r",
    conversion_id="null::text",
    type="null::text",
    occurred_at="r.created_at",
    fx_rate_date="r.fx_rate_date::text",
    amount_cents="p.amount_cents",
    reversed_native_cents="0::bigint",
    reversed_amount_cents="0::bigint",
    reversed_at="null::timestamptz",
    was_denied="false",
    is_advance="false",
)
# A line whose whole conversion was reversed before it was sent pays nothing and is left out.
_LINES = PreparedStatement(f"""
select {_LINE}
from payout_line l join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
where l.organization_id = %(org)s and l.payout_id = %(payout)s and l.native_amount_cents <> 0
union all
select {_RELEASED}
from deal_release r join payout p on p.organization_id = r.organization_id and p.id = r.payout_id
where r.organization_id = %(org)s and r.payout_id = %(payout)s
order by 3, 1
""")
_lines = Rows(ReceiptLine)


def list_lines(*, organization_id: UUID, payout_id: UUID) -> list[ReceiptLine]:
    """Return the lines of a payout, in the order in which they were earned. Budget: 1 statement."""
    return _lines.all(_LINES, {"org": organization_id, "payout": payout_id})
