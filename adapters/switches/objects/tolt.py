"""Tolt's objects: what partners, links, promotion codes, customers and commissions mean.

Source: the switch-over rules, part A, "Tolt", and "How rows become records".
"""

from typing import Any

from adapters.switches.base import SourceRow, SwitchContext, UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.money import currencies
from domain.statuses import AffiliateStatus
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceAffiliate,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceGroup,
    SourceLink,
)

#: The usual parameter of its links; each link names its own.
PARAMETER = "ref"
_REFUND = "refund"
_REWARDS = ("bonus", "lead", "click")
_STATUSES = {
    "active": AffiliateStatus.Approved,
    "pending": AffiliateStatus.Pending,
    "rejected": AffiliateStatus.Rejected,
    "suspended": AffiliateStatus.Paused,
}
_KINDS = {
    "pending": CommissionKind.Pending,
    "approved": CommissionKind.Owed,
    "paid": CommissionKind.Paid,
    "rejected": CommissionKind.Denied,
    "refunded": CommissionKind.Refunded,
}


def read_currency(program: Any) -> str | None:
    """Return the supported currency of a program; None if it names none."""
    return currencies.normalize(values.text(program, "currency_code") or "")


def read_affiliate(row: SourceRow, context: SwitchContext) -> SourceAffiliate:
    """Return a partner; one who is only mentioned counts as rejected."""
    data = row.data
    word = values.text(data, "status") or ""
    group = values.text(data, "group", "name")
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=_read_program_id(data, context),
        email=values.email(data, "email"),
        full_name=values.full_name(data, "first_name", "last_name"),
        status=AffiliateStatus.Rejected if row.is_mention else _STATUSES.get(word.lower()),
        word=word,
        group=SourceGroup(group) if group else None,
        created_at=values.time(data, "created_at"),
        is_mention=row.is_mention,
    )


def read_link(row: SourceRow) -> SourceLink:
    """Return a link. Raises UnreadableRow without a token."""
    token = values.token(row.data, "value")
    if token is None:
        raise UnreadableRow("the link has no value")
    return SourceLink(
        source_id=row.source_id,
        affiliate=_read_ref(row.data) or AffiliateRef(),
        token=token,
        parameter=values.text(row.data, "param") or PARAMETER,
        url=values.text(row.data, "url"),
    )


def read_code(row: SourceRow) -> SourceCode:
    """Return a promotion code; one of a group belongs to no partner. Raises UnreadableRow without its code."""
    code = values.text(row.data, "code")
    if code is None:
        raise UnreadableRow("the promotion code has no code")
    affiliate = _read_ref(row.data) or AffiliateRef()
    return SourceCode(row.source_id, affiliate, code, is_archived=row.data.get("active") is False)


def read_customer(row: SourceRow, context: SwitchContext) -> SourceCustomer:
    """Return a customer or lead. Tolt's own id is never a billing id, although it looks like one."""
    data = row.data
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=_read_ref(data),
        campaign=_read_program_id(data, context),
        claimed_id=values.text(data, "customer_id"),
        subscription_id=values.text(data, "subscription_id"),
        email=values.email(data, "email"),
        name=values.text(data, "name"),
        first_paid_at=values.time(data, "active_at"),
        became_lead_at=values.time(data, "lead_at"),
        created_at=values.time(data, "created_at"),
    )


def read_commission(row: SourceRow, context: SwitchContext) -> SourceCommission:
    """Return a commission; one of type refund is negative. Raises UnreadableRow for an amount that is no number."""
    data, amounts = row.data, AmountReader()
    customer, word = data.get("customer"), values.text(data, "status") or ""
    commission_cents, sale_cents = amounts.cents(data, "amount"), amounts.cents(data, "revenue")
    if (values.text(data, "type") or "").lower() == _REFUND:
        commission_cents, sale_cents = -abs(commission_cents), -abs(sale_cents)
    return SourceCommission(
        source_id=row.source_id,
        affiliate=_read_ref(data),
        campaign=_read_program_id(data, context),
        kind=_KINDS.get(word.lower()),
        word=word,
        currency=amounts.currency(data, "currency") or _read_program_currency(data, context),
        amount_cents=sale_cents,
        commission_cents=commission_cents,
        occurred_at=values.time(data, "created_at"),
        due_at=values.time(data, "scheduled_approval_date"),
        payment=rows.read_id(data.get("transaction_id")) or rows.read_id(values.get(data, "transaction", "id")),
        charge_id=values.text(data, "charge_id") or values.text(data, "transaction", "charge_id"),
        customer=rows.read_id(values.get(customer, "id")) or rows.read_id(data.get("customer_id")),
        claimed_id=values.text(customer, "customer_id"),
        subscription_id=values.text(customer, "subscription_id"),
        customer_email=values.email(customer, "email"),
        customer_name=values.text(customer, "name"),
        problem=amounts.problem,
        is_sale=(values.text(data, "type") or "").lower() not in _REWARDS,
    )


def _read_ref(item: Any) -> AffiliateRef | None:
    """Return the partner whom an object names; None without an id or an email."""
    partner = values.get(item, "partner")
    partner_id = rows.read_id(values.get(partner, "id")) or rows.read_id(values.get(item, "partner_id"))
    email = values.email(partner, "email")
    if partner_id is None and email is None:
        return None
    return AffiliateRef(partner_id, email, name=values.full_name(partner, "first_name", "last_name"))


def _read_program_id(item: Any, context: SwitchContext) -> str:
    """Return the program: each list is that of the typed one."""
    stated = rows.read_id(values.get(item, "program", "id")) or rows.read_id(values.get(item, "program_id"))
    return stated or context.credentials.get("programId") or next(iter(context.campaigns), "")


def _read_program_currency(item: Any, context: SwitchContext) -> str | None:
    """Return the currency of a row that names none: its program's, else the chosen one."""
    stated = read_currency(values.get(item, "program")) or read_currency(values.get(item, "partner", "program"))
    return stated or context.currencies.get(_read_program_id(item, context)) or context.options.currency
