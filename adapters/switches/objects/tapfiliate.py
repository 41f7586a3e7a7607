"""Tapfiliate's objects: what affiliates in programs, customers, commissions and payments mean.

A row of an affiliate is a person in a program: its id is `<affiliate>/<program>`.
Source: the switch-over rules, part A, "Tapfiliate", and part B, "How rows become records".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.switches.base import SourceRow, SwitchContext, UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
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
    SourcePayout,
)

#: The parameters of links: today's, and of older links the affiliate's source and the asset.
PARAMETERS = ("ref", "tap_s", "tap_a")
# Payments whose money has not left, or came back.
_OPEN_PAYMENTS = ("pending", "processing", "cancelled", "canceled", "failed")


def build_affiliate_id(person: str, program: str) -> str:
    """Return the id of a row of `affiliates`."""
    return f"{person}/{program}"


def find_only_row(person: str, programs: Sequence[str]) -> str | None:
    """Return the row of a person that what belongs to all programs together is of, None if there may be several."""
    return build_affiliate_id(person, programs[0]) if len(programs) == 1 else None


def read_person(item: Any) -> str | None:
    """Return the id of the affiliate whom an object names."""
    return rows.read_id(values.get(item, "affiliate", "id")) or rows.read_id(values.get(item, "affiliate_id"))


def read_affiliate(row: SourceRow, context: SwitchContext) -> SourceAffiliate:
    """Return a person of a program, an applicant, or a person whom only a conversion names.

    An applicant who names no program is of the first that is brought.
    """
    data = row.data
    # The list of all affiliates tells more of the same person than that of the program.
    sources = [data.get("affiliate"), data.get("profile")]
    status, word = _read_status(row)
    group = values.text(data, "group") or next(filter(None, map(_read_group, sources)), None)
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=values.text(data, "program") or next(iter(context.campaigns), ""),
        email=next(filter(None, (values.email(source, "email") for source in sources)), None),
        full_name=next(filter(None, (values.full_name(source, "firstname", "lastname") for source in sources)), ""),
        status=status,
        word=word,
        group=SourceGroup(group) if group else None,
        created_at=values.time(data, "created_at") or values.time(data, "affiliate", "created_at"),
        person=read_person(data),
        has_recruiter=any(values.get(source, name) for source in sources for name in ("parent", "parent_id")),
        is_mention=row.is_mention,
    )


def _read_status(row: SourceRow) -> tuple[AffiliateStatus | None, str]:
    """Return the status, and the source's word for it."""
    if row.is_mention:
        return AffiliateStatus.Rejected, ""
    if values.is_true(row.data, "is_prospect"):
        return AffiliateStatus.Pending, "prospect"
    if "approved" not in row.data:
        return None, ""
    approved = row.data["approved"]
    if approved is None:
        return AffiliateStatus.Pending, "null"
    if isinstance(approved, bool):
        return (AffiliateStatus.Approved, "true") if approved else (AffiliateStatus.Rejected, "false")
    return None, str(approved)[:100]


def _read_group(source: Any) -> str | None:
    return values.first_text(values.get(source, "group"), "title", "name") or values.text(source, "affiliate_group_id")


def read_link(row: SourceRow) -> SourceLink:
    """Return the affiliate's link. Raises UnreadableRow if its address has no code."""
    url = values.text(row.data, "url")
    parameter_and_token = values.token_of_url(url, *PARAMETERS)
    if parameter_and_token is None:
        raise UnreadableRow("the link has no code")
    parameter, token = parameter_and_token
    return SourceLink(row.source_id, AffiliateRef(id=values.text(row.data, "affiliate")), token, parameter, url)


def read_code(row: SourceRow) -> SourceCode:
    """Return the affiliate's coupon code."""
    affiliate = AffiliateRef(id=values.text(row.data, "affiliate"))
    return SourceCode(row.source_id, affiliate, values.text(row.data, "code") or "")


def read_customer(row: SourceRow) -> SourceCustomer:
    """Return a customer, who is named by the brand's id only. Nothing tells when they paid first."""
    data = row.data
    program = values.text(data, "program") or ""
    person = read_person(data)
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=build_affiliate_id(person, program)) if person else None,
        campaign=program,
        claimed_id=values.text(data, "customer_id"),
        created_at=values.time(data, "created_at"),
    )


def read_commission(row: SourceRow, context: SwitchContext) -> SourceCommission:
    """Return a commission of a conversion. Approved is not paid: the list of paid commissions tells that."""
    program = values.text(row.data, "program") or ""
    conversion, commission = row.data.get("conversion"), row.data.get("commission")
    amounts = AmountReader()
    currency = amounts.currency(commission, "currency") or context.currencies.get(program)
    kind, word = _read_kind(row.data)
    return SourceCommission(
        source_id=row.source_id,
        affiliate=_read_affiliate_ref(commission, conversion, program),
        campaign=program,
        kind=kind,
        word=word,
        currency=currency,
        amount_cents=amounts.decimals(commission, "conversion_sub_amount", currency=currency),
        commission_cents=amounts.decimals(commission, "amount", currency=currency),
        occurred_at=values.time(conversion, "created_at") or values.time(commission, "created_at"),
        payment=rows.read_id(values.get(conversion, "id")),
        charge_id=values.text(conversion, "external_id"),
        customer=rows.read_id(values.get(conversion, "customer", "id")),
        claimed_id=values.text(conversion, "customer", "customer_id"),
        problem=amounts.problem,
    )


def _read_kind(data: Mapping[str, Any]) -> tuple[CommissionKind | None, str]:
    """Return the kind, and the source's word for it."""
    commission = data.get("commission")
    if values.is_true(data, "is_paid"):
        return CommissionKind.Paid, "paid"
    if not isinstance(commission, Mapping) or "approved" not in commission:
        return None, ""
    approved = commission["approved"]
    if approved is None:
        return CommissionKind.Pending, "null"
    if isinstance(approved, bool):
        return (CommissionKind.Owed, "true") if approved else (CommissionKind.Denied, "false")
    return None, str(approved)[:100]


def _read_affiliate_ref(commission: Any, conversion: Any, program: str) -> AffiliateRef | None:
    """Return whose commission it is: a recruiter's names its own affiliate."""
    for source in (commission, conversion):
        person = read_person(source)
        if person is not None:
            name = values.full_name(values.get(source, "affiliate"), "firstname", "lastname")
            email = values.email(source, "affiliate", "email")
            return AffiliateRef(build_affiliate_id(person, program), email, name=name, campaign=program)
    return None


def read_payout(row: SourceRow, context: SwitchContext) -> SourcePayout:
    """Return a payment. One without a status was paid."""
    data = row.data
    amounts = AmountReader()
    currency = amounts.currency(data, "currency")
    person, email = read_person(data), values.email(data, "affiliate", "email")
    only_row = find_only_row(person, context.all_campaigns) if person else None
    return SourcePayout(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=only_row or (None if email else person), email=email),
        currency=currency or "",
        cents=amounts.decimals(data, "amount", currency=currency),
        is_done=(values.text(data, "status") or "").lower() not in _OPEN_PAYMENTS,
        problem=amounts.problem,
    )
