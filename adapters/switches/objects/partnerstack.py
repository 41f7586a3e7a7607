"""PartnerStack's objects: what partnerships, links, customers and rewards mean.

Source: the switch-over rules, part A, "PartnerStack", and "How rows become records".
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adapters.switches.base import SourceRow, UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.money import currencies
from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason, SwitchWarning
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceAffiliate,
    SourceCommission,
    SourceCustomer,
    SourceGroup,
    SourceLink,
)
from domain.switches.sources import ONLY_CAMPAIGN

#: The parameter of visitors whom a link brought.
PARAMETER = "ps_partner_key"
# Of rewards that name none.
_CURRENCY = "USD"
_STATUSES = {
    "approved": AffiliateStatus.Approved,
    "pending": AffiliateStatus.Pending,
    "declined": AffiliateStatus.Rejected,
    "archived": AffiliateStatus.Paused,
}
_KINDS = {
    "paid": CommissionKind.Paid,
    "approved": CommissionKind.Owed,
    "pending": CommissionKind.Pending,
    "scheduled": CommissionKind.Pending,
    "hold": CommissionKind.Held,
    "declined": CommissionKind.Denied,
}
# A payment's status counts before the reward's; others (`failed`, `merging`) say nothing of the kind.
_PAYMENT_KINDS = {
    "withdrawn": CommissionKind.Paid,
    "in_transit": CommissionKind.Paid,
    "available": CommissionKind.Paid,
    "paid_externally": CommissionKind.Paid,
    "paid_and_refunded": CommissionKind.Denied,
    "expired": CommissionKind.Denied,
}


def read_affiliate(row: SourceRow) -> SourceAffiliate:
    """Return a partnership; a partner who is only mentioned counts as rejected."""
    data = row.data
    word = values.text(data, "listed_as") or ""
    if values.is_true(data, "archived"):
        word = "archived"
    group = values.text(data, "group", "name") or values.text(data, "group", "slug")
    status = AffiliateStatus.Rejected if row.is_mention else _STATUSES.get(word)
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=ONLY_CAMPAIGN,
        email=values.email(data, "email"),
        full_name=values.full_name(data, "first_name", "last_name"),
        status=status,
        word=word,
        group=SourceGroup(group) if group else None,
        created_at=values.time(data, "joined_at") or values.time(data, "created_at"),
        is_mention=row.is_mention,
    )


def read_link(row: SourceRow) -> SourceLink:
    """Return a token of a partnership, or a link by its path. Raises UnreadableRow."""
    data = row.data
    affiliate = AffiliateRef(id=values.text(data, "partnership"))
    token = values.token(data, "token")
    if token is not None:
        return SourceLink(row.source_id, affiliate, token, PARAMETER, place=values.count(data, "place") or 0)
    url = values.text(data, "url")
    token = values.token({"path": _path(url)}, "path")
    if token is None:
        raise UnreadableRow("the link has no path")
    return SourceLink(row.source_id, affiliate, token, url=url, place=2)


def _path(url: str | None) -> str | None:
    try:
        return urlsplit(url or "").path.strip("/")
    except ValueError:
        return None


def read_customer(row: SourceRow) -> SourceCustomer:
    """Return a customer with both ids."""
    data = row.data
    partnership = rows.read_id(data.get("partnership_key"))
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=partnership) if partnership else None,
        campaign=ONLY_CAMPAIGN,
        billing_id=values.text(data, "provider_key"),
        claimed_id=values.text(data, "customer_key"),
        email=values.email(data, "email"),
        name=values.text(data, "name"),
        created_at=values.time(data, "created_at"),
        problem=LeftOutReason.TestRow if values.is_true(data, "test") else None,
    )


def read_commission(row: SourceRow) -> SourceCommission:
    """Return a reward, in the currency that it names, else in US dollars."""
    data = row.data
    amounts = AmountReader()
    word = values.text(data, "reward_status") or ""
    currency = amounts.currency(data, "currency") or _CURRENCY
    amount, warnings = _read_sale(amounts, data, currency)
    return SourceCommission(
        source_id=row.source_id,
        affiliate=_read_partner(data),
        campaign=ONLY_CAMPAIGN,
        kind=_PAYMENT_KINDS.get(values.text(data, "payment_status") or "") or _KINDS.get(word),
        word=word,
        currency=currency,
        amount_cents=amount,
        commission_cents=amounts.cents(data, "amount"),
        occurred_at=values.time(data, "created_at"),
        payment=rows.read_id(values.get(data, "transaction", "key")),
        customer=rows.read_id(values.get(data, "customer", "key")),
        claimed_id=values.text(data, "customer", "external_key"),
        customer_email=values.email(data, "customer", "email"),
        customer_name=values.text(data, "customer", "name"),
        warnings=warnings,
        problem=amounts.problem,
        is_sale=isinstance(values.get(data, "transaction"), Mapping),
    )


def _read_sale(amounts: AmountReader, data: Mapping[str, Any], currency: str) -> tuple[int, tuple[str, ...]]:
    """Return the transaction's amount; 0 without one, or, with a warning, if it is in another currency."""
    if not isinstance(values.get(data, "transaction"), Mapping):
        return 0, ()
    word = values.text(data, "transaction", "currency") or currency
    if (currencies.normalize(word) or word.upper()) != currency:
        return 0, (SwitchWarning.SaleInOtherCurrency,)
    return amounts.cents(data, "transaction", "amount"), ()


def _read_partner(data: Mapping[str, Any]) -> AffiliateRef | None:
    key, email = rows.read_id(values.get(data, "partnership", "key")), values.email(data, "partnership", "email")
    return AffiliateRef(id=key, email=email) if key or email else None
