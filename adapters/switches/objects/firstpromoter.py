"""FirstPromoter's objects: what promoters in campaigns, referrals, commissions and payouts mean.

Source: the switch-over rules, part A, "FirstPromoter", and "How rows become records".
"""

from typing import Any

from adapters.switches.base import SourceRow, UnreadableRow
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CampaignTerms,
    CommissionKind,
    SourceAffiliate,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceLink,
    SourcePayout,
)

#: The usual parameters of its links; a campaign names its own.
PARAMETERS = ("fpr", "fp_ref")
_STATUSES = {
    "accepted": AffiliateStatus.Approved,
    "pending": AffiliateStatus.Pending,
    "not_set": AffiliateStatus.Pending,
    "rejected": AffiliateStatus.Rejected,
    "inactive": AffiliateStatus.Paused,
    "blocked": AffiliateStatus.Banned,
}
_KINDS = {
    "pending": CommissionKind.Pending,
    "approved": CommissionKind.Owed,
    "denied": CommissionKind.Denied,
}
_NO_SUSPICION = "no_suspicion"
_MONEY = "cash"
# How the email of a referral ends that was moved to another promoter.
_MOVED = "(moved)"


def read_terms(item: Any) -> CampaignTerms:
    """Return the terms of a campaign: it names no rates."""
    return CampaignTerms(cookie_window_days=values.count(item, "visitor_cookie_life"))


def read_affiliate(row: SourceRow) -> SourceAffiliate:
    """Return a promoter in a campaign; one who is in none, or only mentioned, has no state there."""
    membership, promoter = row.data, values.get(row.data, "promoter")
    if promoter is None:
        promoter = membership
    word = values.text(membership, "state") or ""
    status = _STATUSES.get(word.lower())
    # A person who is blocked stays so after they are archived, and one who was rejected as well.
    is_open = status in (None, AffiliateStatus.Approved, AffiliateStatus.Pending)
    if is_open and values.get(promoter, "archived_at") is not None:
        status = AffiliateStatus.Paused
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=_read_campaign_id(membership) or "",
        email=values.email(promoter, "email"),
        full_name=_read_name(promoter),
        status=AffiliateStatus.Rejected if row.is_mention else status,
        word=word,
        created_at=values.time(membership, "created_at") or values.time(promoter, "joined_at"),
        has_recruiter=any(values.get(promoter, name) for name in ("parent_promoter_id", "parent_promoter")),
        is_mention=row.is_mention,
    )


def read_link(row: SourceRow) -> SourceLink:
    """Return the link of a promoter in a campaign. Raises UnreadableRow without a token."""
    token = values.token(row.data, "ref_token")
    if token is None:
        raise UnreadableRow("the link has no token")
    url = values.text(row.data, "ref_link")
    parameter = values.token_parameter(url, token)
    return SourceLink(
        source_id=row.source_id,
        affiliate=AffiliateRef(row.source_id),
        token=token,
        parameter=parameter or PARAMETERS[0],
        url=url,
        place=values.count(row.data, "place") or 0,
    )


def read_code(row: SourceRow) -> SourceCode:
    """Return a promo code. Raises UnreadableRow without its code."""
    code = values.text(row.data, "code")
    if code is None:
        raise UnreadableRow("the promo code has no code")
    affiliate = AffiliateRef(rows.read_id(row.data.get("promoter_campaign_id")))
    return SourceCode(row.source_id, affiliate, code, is_archived=row.data.get("archived_at") is not None)


def read_customer(row: SourceRow) -> SourceCustomer:
    """Return a referral. One that was moved to another promoter, expired or denied is left out."""
    data = row.data
    affiliate = _read_ref(data.get("promoter_campaign"))
    state, email = (values.text(data, "state") or "").lower(), values.email(data, "email")
    problem = None
    if values.is_true(data, "is_expired") or state == "denied":
        problem = LeftOutReason.LeadExpired
    if state == "moved" or (email or "").endswith(_MOVED):
        problem = LeftOutReason.MovedCustomer
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=affiliate,
        campaign=affiliate.campaign if affiliate else None,
        claimed_id=values.text(data, "uid"),
        email=_drop_mark(email),
        first_paid_at=values.time(data, "customer_since"),
        created_at=values.time(data, "created_at"),
        problem=problem,
    )


def read_commission(row: SourceRow, currency: str | None) -> SourceCommission:
    """Return a commission; a negative one takes back the sale of the same event. `currency` is the account's.

    Raises UnreadableRow for an amount that is no number.
    """
    data, amounts = row.data, AmountReader()
    affiliate, referral = _read_ref(data.get("promoter_campaign")), data.get("referral")
    unit, word = values.text(data, "unit"), values.text(data, "status") or ""
    code = amounts.check_currency(currency) if currency else None
    commission_cents, sale_cents = amounts.cents(data, "amount"), amounts.cents(data, "sale_amount")
    event = values.text(data, "event_id")
    return SourceCommission(
        source_id=row.source_id,
        affiliate=affiliate,
        campaign=affiliate.campaign if affiliate else None,
        kind=_read_kind(data, word.lower()),
        word=word,
        currency=code,
        amount_cents=sale_cents,
        commission_cents=commission_cents,
        occurred_at=values.time(data, "created_at"),
        payment=event,
        charge_id=event,
        customer=rows.read_id(values.get(referral, "id")),
        claimed_id=values.text(referral, "uid"),
        customer_email=_drop_mark(values.email(referral, "email")),
        problem=LeftOutReason.NotMoney if unit not in (None, _MONEY) else amounts.problem,
        is_sale=(values.text(data, "commission_type") or "sale").lower() == "sale",
    )


def read_payout(row: SourceRow, currency: str | None) -> SourcePayout:
    """Return a payout. Raises UnreadableRow for an amount that is no number."""
    data, amounts = row.data, AmountReader()
    code = amounts.check_currency(currency) if currency else ""
    unit, cents = values.text(data, "unit"), amounts.cents(data, "amount")
    affiliate = _read_ref(data.get("promoter_campaign")) or AffiliateRef(
        email=values.email(data, "promoter", "email"), campaign=_read_campaign_id(data)
    )
    return SourcePayout(
        source_id=row.source_id,
        affiliate=affiliate,
        currency=code,
        cents=cents,
        is_done=values.text(data, "status") == "completed",
        problem=LeftOutReason.NotMoney if unit not in (None, _MONEY) else amounts.problem,
    )


def _read_kind(data: Any, word: str) -> CommissionKind | None:
    """Return the kind of a commission; one under suspicion is held while it is pending."""
    if values.is_true(data, "is_paid"):
        return CommissionKind.Paid
    kind = _KINDS.get(word)
    if kind == CommissionKind.Pending and values.text(data, "fraud_check") not in (None, _NO_SUSPICION):
        return CommissionKind.Held
    return kind


def _read_ref(membership: Any) -> AffiliateRef | None:
    """Return who a promoter in a campaign is; None without an id or an email."""
    affiliate_id = rows.read_id(values.get(membership, "id"))
    email = values.email(membership, "promoter", "email")
    if affiliate_id is None and email is None:
        return None
    name = _read_name(values.get(membership, "promoter"))
    return AffiliateRef(affiliate_id, email, name=name, campaign=_read_campaign_id(membership))


def _read_name(promoter: Any) -> str:
    name = values.full_name(values.get(promoter, "profile"), "first_name", "last_name")
    return name or values.full_name(promoter, "name")


def _read_campaign_id(item: Any) -> str | None:
    return rows.read_id(values.get(item, "campaign_id")) or rows.read_id(values.get(item, "campaign", "id"))


def _drop_mark(email: str | None) -> str | None:
    return email.removesuffix(_MOVED).strip() or None if email else None
