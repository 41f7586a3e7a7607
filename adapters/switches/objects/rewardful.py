"""Rewardful's objects: what campaigns, affiliates, links, referrals, commissions and payouts mean.

Source: the switch-over rules, part A, "Rewardful", and "How rows become records".
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adapters.switches.base import SourceRow, UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.money import currencies
from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason, SwitchWarning
from domain.switches.records import (
    AffiliateRef,
    CampaignTerms,
    CommissionKind,
    SourceAffiliate,
    SourceCampaign,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceGroup,
    SourceLink,
    SourcePayout,
)

#: The parameter of its links.
PARAMETER = "via"
_STATUSES = {
    "active": AffiliateStatus.Approved,
    "disabled": AffiliateStatus.Paused,
    "suspicious": AffiliateStatus.Banned,
}
_KINDS = {
    "pending": CommissionKind.Pending,
    "due": CommissionKind.Owed,
    "paid": CommissionKind.Paid,
    "voided": CommissionKind.Refunded,
}


def read_campaign(item: Any) -> SourceCampaign:
    """Return a campaign with its terms."""
    return SourceCampaign(
        source_id=rows.read_id(values.get(item, "id")) or "",
        name=values.text(item, "name") or "",
        terms=_read_terms(item),
        affiliates=values.row_count(item, "affiliates"),
    )


def _read_terms(item: Any) -> CampaignTerms:
    kind, value, currency = _read_rate(item)
    months, commissions = values.count(item, "max_commission_period_months"), values.count(item, "max_commissions")
    if commissions == 1:
        months = 0  # only the first payment earns, whenever that is
    is_stated = isinstance(item, Mapping) and item.get("max_commission_period_months", 0) is None
    return CampaignTerms(
        commission_type=kind,
        commission_value=value,
        commission_currency=currency,
        cookie_window_days=values.count(item, "days_before_referrals_expire"),
        recurring_months=months,
        hold_days=values.count(item, "days_until_commissions_are_due"),
        minimum_payout_cents=values.count(item, "minimum_payout_cents"),
        # A greater number of commissions is a limit that programs here do not have.
        is_unlimited=is_stated and commissions is None,
    )


def _read_rate(item: Any) -> tuple[Any, Decimal | None, str | None]:
    """Return type, value and currency of a campaign's commission, as far as it names them."""
    kind = values.text(item, "reward_type")
    if kind == "percent" and (percent := values.number(item, "commission_percent")) is not None:
        return "Percentage", percent, None
    currency = currencies.normalize(values.text(item, "commission_amount_currency") or "")
    cents = values.count(item, "commission_amount_cents")
    if kind == "amount" and currency and cents is not None:
        return "Fixed", currencies.to_major(cents, currency), currency
    return None, None, None


def _read_campaign_id(item: Any) -> str | None:
    return rows.read_id(values.get(item, "campaign", "id")) or rows.read_id(values.get(item, "campaign_id"))


def _read_ref(affiliate: Any) -> AffiliateRef | None:
    """Return who an affiliate object is; None without an id or an email."""
    affiliate_id, email = rows.read_id(values.get(affiliate, "id")), values.email(affiliate, "email")
    if affiliate_id is None and email is None:
        return None
    name = values.full_name(affiliate, "first_name", "last_name")
    return AffiliateRef(affiliate_id, email, name=name, campaign=_read_campaign_id(affiliate))


def read_affiliate(row: SourceRow) -> SourceAffiliate:
    """Return an affiliate; one who is only mentioned counts as rejected."""
    data = row.data
    word = values.text(data, "state") or ""
    group = values.text(data, "campaign", "name")
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=_read_campaign_id(data),
        email=values.email(data, "email"),
        full_name=values.full_name(data, "first_name", "last_name"),
        status=AffiliateStatus.Rejected if row.is_mention else _STATUSES.get(word.lower()),
        word=word,
        wallet_email=values.email(data, "paypal_email"),
        group=SourceGroup(group, *_read_rate(data.get("campaign"))) if group else None,
        created_at=values.time(data, "created_at"),
        is_mention=row.is_mention,
    )


def read_link(row: SourceRow) -> SourceLink:
    """Return a link. Raises UnreadableRow without a token."""
    token = values.token(row.data, "token")
    if token is None:
        raise UnreadableRow("the link has no token")
    return SourceLink(
        source_id=row.source_id,
        affiliate=AffiliateRef(rows.read_id(row.data.get("affiliate_id"))),
        token=token,
        parameter=PARAMETER,
        url=values.text(row.data, "url"),
        place=values.count(row.data, "place") or 0,
    )


def read_code(row: SourceRow) -> SourceCode:
    """Return a coupon. Raises UnreadableRow without its code."""
    code = values.text(row.data, "token")
    if code is None:
        raise UnreadableRow("the coupon has no code")
    is_archived = values.is_true(row.data, "archived") or values.time(row.data, "archived_at") is not None
    return SourceCode(row.source_id, AffiliateRef(rows.read_id(row.data.get("affiliate_id"))), code, is_archived)


def read_customer(row: SourceRow) -> SourceCustomer:
    """Return the customer or lead of a referral; one that is deactivated or a visitor is left out."""
    data = row.data
    affiliate = _read_ref(data.get("affiliate"))
    is_over = data.get("deactivated_at") is not None or values.text(data, "conversion_state") == "visitor"
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=affiliate,
        campaign=affiliate.campaign if affiliate else None,
        billing_id=_read_billing_id(data),
        email=values.email(data, "customer", "email"),
        name=_read_customer_name(data),
        first_paid_at=values.time(data, "became_conversion_at"),
        became_lead_at=values.time(data, "became_lead_at"),
        created_at=values.time(data, "created_at"),
        problem=LeftOutReason.LeadExpired if is_over else None,
    )


def _read_billing_id(referral: Any) -> str | None:
    return values.text(referral, "customer", "id") or values.text(referral, "stripe_customer_id")


def _read_customer_name(referral: Any) -> str | None:
    """Return a customer's name; where it is unknown the source repeats the billing id."""
    name = values.text(referral, "customer", "name")
    return None if name is None or name.startswith("cus_") or name == _read_billing_id(referral) else name


def read_commission(row: SourceRow) -> SourceCommission:
    """Return a commission with its sale. Raises UnreadableRow for an amount that is no number."""
    data = row.data
    sale, amounts = data.get("sale"), AmountReader()
    referral, affiliate = values.get(sale, "referral"), _read_ref(values.get(sale, "affiliate"))
    currency = amounts.currency(data, "currency") or amounts.currency(sale, "currency")
    sale_cents, refunded_cents, warnings = _read_sale(sale, amounts, currency)
    word = values.text(data, "state") or ""
    return SourceCommission(
        source_id=row.source_id,
        affiliate=affiliate,
        campaign=_read_campaign_id(data) or (affiliate.campaign if affiliate else None),
        kind=_KINDS.get(word.lower()),
        word=word,
        currency=currency,
        amount_cents=sale_cents,
        commission_cents=amounts.cents(data, "amount"),
        occurred_at=values.time(sale, "charged_at") or values.time(data, "created_at"),
        refunded_cents=refunded_cents,
        due_at=values.time(data, "due_at"),
        payment=rows.read_id(values.get(sale, "id")),
        charge_id=values.text(sale, "stripe_charge_id"),
        customer=rows.read_id(values.get(referral, "id")),
        billing_id=_read_billing_id(referral),
        customer_email=values.email(referral, "customer", "email"),
        customer_name=_read_customer_name(referral),
        warnings=warnings,
        problem=amounts.problem,
    )


def _read_sale(sale: Any, amounts: AmountReader, currency: str | None) -> tuple[int, int, tuple[str, ...]]:
    """Return the sale after tax and before refunds, what was refunded of it, and warnings.

    Whether the source's own sale amount is after refunds is unknown, so that both readings agree with ours.
    """
    sale_currency = currencies.normalize(values.text(sale, "currency") or currency or "")
    if sale_currency != currency and currency in currencies.EXPONENTS:
        return 0, 0, (SwitchWarning.SaleInOtherCurrency.value,)
    refunded = max(0, amounts.cents(sale, "refund_amount_cents"))
    stated = amounts.cents(sale, "sale_amount_cents")
    if values.get(sale, "charge_amount_cents") is None:
        return stated, min(refunded, stated), ()
    net = amounts.cents(sale, "charge_amount_cents") - amounts.cents(sale, "tax_amount_cents")
    if values.get(sale, "sale_amount_cents") is None or net in (stated, stated + refunded):
        return net, min(refunded, net), ()
    return stated, min(refunded, stated), (SwitchWarning.AmountsDisagree.value,)


def read_payout(row: SourceRow) -> SourcePayout:
    """Return a payout. Raises UnreadableRow for an amount that is no number."""
    amounts = AmountReader()
    currency = amounts.currency(row.data, "currency") or ""
    cents = amounts.cents(row.data, "amount")
    affiliate = _read_ref(row.data.get("affiliate")) or AffiliateRef(rows.read_id(row.data.get("affiliate_id")))
    return SourcePayout(
        source_id=row.source_id,
        affiliate=affiliate,
        currency=currency,
        cents=cents,
        is_done=values.text(row.data, "state") == "paid",
        problem=amounts.problem,
    )
