"""Payouts: reading, locking and changing them. Their lines are in `lines`, their attempts in `attempts`.

To change a payout's sum or lines, lock its conversions first, by id, then the payout, as refunds do.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from models.conditions import UNPAID
from models.db import db
from models.ledger import entries
from models.prepared_statements import FreshSelect, Lookup, PreparedStatement
from models.table import Rows, columns

#: The columns of a rail's references to a payment, by the rail's own names for them.
REFERENCE_COLUMNS: Mapping[str, str] = {
    "processorTransferId": "processor_transfer_id",
    "walletBatchId": "wallet_batch_id",
    "walletTransactionId": "wallet_transaction_id",
    "gpOutboundPaymentId": "gp_outbound_payment_id",
    "externalTransactionId": "external_transaction_id",
}


@dataclass(frozen=True, slots=True)
class Payout:
    """One payout with its run's review and its organization's sandbox mode. US cents, aware UTC.

    `milestone_id`: it pays a milestone of a deal, and has no lines; None: it pays its lines. `natives` are the sums of
    its lines by currency (`domain.payouts.native_sums`), only read by `lock_to_send`.
    """

    id: UUID
    organization_id: UUID
    run_id: UUID
    program_id: UUID
    affiliate_id: UUID
    milestone_id: UUID | None
    amount_cents: int
    currency: str
    method: str
    destination: str
    status: str
    attempt: int
    processor_transfer_id: str | None
    wallet_batch_id: str | None
    wallet_transaction_id: str | None
    gp_outbound_payment_id: str | None
    external_transaction_id: str | None
    notes: str | None
    failure_code: str | None
    failure_reason: str | None
    period_start: date
    period_end: date
    created_at: datetime
    exported_at: datetime | None
    submitted_at: datetime | None
    paid_at: datetime | None
    failed_at: datetime | None
    voided_at: datetime | None
    review_status: str | None
    hold_until: datetime | None
    sandbox_rail: str | None
    natives: str | None

    @property
    def references(self) -> dict[str, str]:
        """The rail's references to the payment, as far as known."""
        references = ((name, getattr(self, column)) for name, column in REFERENCE_COLUMNS.items())
        return {name: value for name, value in references if value is not None}


_OTHERS = {"review_status": "r.review_status", "hold_until": "r.hold_until", "sandbox_rail": "o.sandbox_rail"}
_FROM = """
from payout p
join payout_run r on r.organization_id = p.organization_id and r.id = p.run_id
join organization o on o.id = p.organization_id
where p.organization_id = %s"""
_SELECT = f"select {columns(Payout, 'p', **_OTHERS, natives='null::text')} {_FROM}"
# In the format that `domain.payouts.native_sums` reads.
_NATIVES = """(
  select string_agg(concat(s.currency, '=', s.native, '/', s.cents, '@', trim_scale(s.rate), '@', s.day), ',')
  from (
    select l.native_currency as currency, sum(l.native_amount_cents) as native, sum(l.amount_cents) as cents,
      l.fx_rate as rate, l.fx_rate_date as day
    from payout_line l where l.organization_id = p.organization_id and l.payout_id = p.id and l.is_open
    group by l.native_currency, l.fx_rate, l.fx_rate_date
    union all
    select d.native_currency, d.native_amount_cents, p.amount_cents, d.fx_rate, d.fx_rate_date
    from deal_release d where d.organization_id = p.organization_id and d.payout_id = p.id
  ) s)"""
_FIND = Lookup(f"{_SELECT} and p.id = %s")
_LOCK_WHICH = "and p.id = any(%s) order by p.id for update of p"
_LOCK = Lookup(f"{_SELECT} {_LOCK_WHICH}")
_LOCK_TO_SEND = FreshSelect(f"select {columns(Payout, 'p', **_OTHERS, natives=_NATIVES)} {_FROM} {_LOCK_WHICH}")
_payouts = Rows(Payout)


def find(*, organization_id: UUID, payout_id: UUID) -> Payout | None:
    """Return one payout of the organization, or None."""
    return _payouts.first(_FIND, (organization_id, payout_id))


def lock(*, organization_id: UUID, payout_id: UUID) -> Payout | None:
    """Return one payout, locked until the transaction ends. Lock its conversions first to change its amount."""
    return lock_all(organization_id=organization_id, payout_ids=[payout_id]).get(payout_id)


def lock_all(*, organization_id: UUID, payout_ids: Sequence[UUID]) -> dict[UUID, Payout]:
    """Return payouts by id, locked as by `lock`, in the order of their ids: one round trip."""
    return {payout.id: payout for payout in _payouts.all(_LOCK, (organization_id, list(payout_ids)))}


def lock_to_send(*, organization_id: UUID, payout_ids: Sequence[UUID]) -> dict[UUID, Payout]:
    """Return payouts as `lock_all` does, with the sums of their lines by currency: one round trip."""
    return {payout.id: payout for payout in _payouts.all(_LOCK_TO_SEND, (organization_id, list(payout_ids)))}


def stage_change(payout: Payout, **changes: object) -> None:
    """Stage new values of a locked payout's columns."""
    db.stage(_change(tuple(changes)), (*changes.values(), payout.organization_id, payout.id))


@functools.cache
def _change(columns: tuple[str, ...]) -> PreparedStatement:
    """Return the statement that changes these columns; there are only a few sets of columns."""
    return PreparedStatement(
        f"update payout set {', '.join(f'{name} = %s' for name in columns)} where organization_id = %s and id = %s"
    )


_SUBMITTED = PreparedStatement("""
update payout set status = 'Processing', submitted_at = %s where organization_id = %s and id = any(%s)
""")


def stage_submitted(payouts: Sequence[Payout], *, at: datetime) -> None:
    """Stage that locked payouts of one organization are about to be sent to their rails."""
    db.stage(_SUBMITTED, (at, payouts[0].organization_id, [payout.id for payout in payouts]))


_BOOKED = entries.insert_sql(
    kind="case when paid.cents > 0 then 'pay' else 'clawback' end",
    cents="-paid.cents",
    cause="paid.payout_id",
    at="%(at)s::timestamptz",
)
# By an array of ids: the cached plan must look conversions up and never scan a whole organization's.
_PAY = PreparedStatement(f"""
with paid as (
  update payout_line set is_open = false
  where organization_id = %(org)s and payout_id = any(%(payouts)s::uuid[]) and is_open
  returning payout_id, conversion_id, native_amount_cents as cents
), booked as (
  {_BOOKED}
  from paid join conversion c on c.organization_id = %(org)s and c.id = paid.conversion_id
  where paid.cents <> 0 and c.id = any(array(select conversion_id from paid))
)
update conversion c set paid_cents = c.paid_cents + paid.cents,
  status = case
    when c.status in {UNPAID}
      and c.paid_cents + paid.cents >= c.commission_cents - c.reversed_cents then 'Paid'
    when c.status = 'Paid' and c.paid_cents + paid.cents < c.commission_cents - c.reversed_cents then 'Approved'
    else c.status end
from paid where c.organization_id = %(org)s and c.id = paid.conversion_id
  and c.id = any(array(select conversion_id from paid))
""")


@dataclass(frozen=True, slots=True)
class PaidPayout:
    """A locked payout that was paid, with the method and the rail's references."""

    payout: Payout
    method: str
    references: Mapping[str, str]


_NAMED = tuple(REFERENCE_COLUMNS.values())
_PAID = PreparedStatement(f"""
update payout p set status = 'Paid', method = paid.method, paid_at = %(at)s, failed_at = null, failure_code = null,
  failure_reason = null, {", ".join(f"{name} = coalesce(paid.{name}, p.{name})" for name in _NAMED)}
from unnest(%(payouts)s::uuid[], %(method)s::text[], {", ".join(f"%({name})s::text[]" for name in _NAMED)})
  as paid (id, method, {", ".join(_NAMED)})
where p.organization_id = %(org)s and p.id = any(%(payouts)s::uuid[]) and p.id = paid.id
""")


def stage_paid(payments: Sequence[PaidPayout], *, at: datetime) -> None:
    """Stage that payouts of one organization, whose conversions are locked, are Paid; two statements for any number.

    Their lines are closed and booked, and their conversions Paid if nothing is left due.
    """
    references = [reference_columns(payment.references) for payment in payments]
    params = {
        "org": payments[0].payout.organization_id,
        "payouts": [payment.payout.id for payment in payments],
        "method": [payment.method for payment in payments],
        "at": at,
        **{column: [values.get(column) for values in references] for column in _NAMED},
    }
    db.stage(_PAY, params)
    db.stage(_PAID, params)


_PENDING_OF_RUN = """
select id from payout where organization_id = %s and run_id = %s and status = 'Pending' order by id
"""
_PENDING_OF_AFFILIATE = """
select id from payout where organization_id = %s and affiliate_id = %s and status = 'Pending' order by id
"""


def list_pending_of_run(*, organization_id: UUID, run_id: UUID) -> list[UUID]:
    """Return the payouts of a run that were not sent yet, by id."""
    return [payout_id for (payout_id,) in db.run(_PENDING_OF_RUN, (organization_id, run_id))]


def list_pending_of_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> list[UUID]:
    """Return the payouts of an affiliate that were not sent yet, by id."""
    return [payout_id for (payout_id,) in db.run(_PENDING_OF_AFFILIATE, (organization_id, affiliate_id))]


def any_org_find_organization(payout_id: UUID) -> UUID | None:
    """Return the organization of a payout, for an operator who knows only its id."""
    row = db.row("select organization_id from payout where id = %s", (payout_id,))
    return row[0] if row else None


def reference_columns(references: Mapping[str, str]) -> dict[str, Any]:
    """Return a rail's references to a payment, by column."""
    return {REFERENCE_COLUMNS[name]: value for name, value in references.items()}


# A milestone's payment was counted when the brand was charged for it.
_CAP_USED = """
select (select coalesce(sum(amount_cents), 0) from payout
    where organization_id = %(org)s and created_at >= %(since)s and status <> 'Failed' and milestone_id is null)::bigint
  + (select coalesce(sum(usd_cents), 0) from deal_request
    where organization_id = %(org)s and created_at >= %(since)s and kind = 'charge' and state <> 'rejected')::bigint
"""


def sum_cap_used_cents(*, organization_id: UUID, since: datetime) -> int:
    """Return the sum of the organization's payouts and deals since a time, in US cents, without failed ones."""
    ((cents,),) = db.run(_CAP_USED, {"org": organization_id, "since": since})
    return int(cents)
