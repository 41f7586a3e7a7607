"""Decides which affiliate the origin of a payment credits, by the six steps in their order.

Source: tracking spec, section 8 "Lead attribution order", "Attribution method taxonomy", "Coupons" (redeemed codes).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from domain import emails
from domain.attribution import Coupon, Decision, Facts, History, Lead, NamedAffiliate, Referral, Signup
from domain.attribution.facts import CHECKOUT_DOOR, PROMOTION_CODE
from domain.clicks import subid
from domain.conversions import customers
from domain.conversions.customers import CustomerNames
from domain.coupons.discounts import CodeOrigin
from domain.gateways import referrals
from domain.gateways.facts import BuyerOrigin, Carrier, RedeemedCode
from domain.gateways.referrals import Claim
from domain.platforms.signups import NO_SIGNUPS, Signups
from domain.statuses import AffiliateStatus
from models.gateways import credit_candidates
from models.gateways.credit_candidates import CreditCandidate, PaymentOrigin, RedeemableCode
from pipelines.conversions import credit
from pipelines.gateways.booking.context import BookingContext
from pipelines.work import TryAgain

#: Why no commission is earned: no affiliate is named; only affiliates of closed campaigns; one who is not Approved;
#: only affiliates of campaigns that pay for clicks or leads and not for sales.
NO_REFERRAL, CLOSED, NOT_ACTIVE, NOT_A_SALE = (
    "nobody_referred",
    "no_active_program",
    "affiliate_not_active",
    "not_a_sale_campaign",
)

_MAX_CLAIMS, _MAX_CODES = 20, 20
_MINTING_DELAY = timedelta(seconds=30)
# Paypal names no customer before the payment; a payment belongs to its subscription.
_HISTORY = {"customer": "customer_history", "subscription": "customer_history", "email": "customer_history"}
_HISTORY_OF = {"paypal": {**_HISTORY, "subscription": "subscription_history"}}


@dataclass(frozen=True, slots=True)
class Credit:
    """The affiliate that an origin credits. `reason` is why they earn nothing (None: they do).

    `code` is the redeemed one, where its owner is credited, by whichever step.
    """

    decision: Decision
    candidate: CreditCandidate | None
    reason: str | None
    code: RedeemableCode | None = None

    @property
    def is_attributed(self) -> bool:
        """Whether an affiliate brought the buyer, also where their campaign does not pay for it."""
        return self.candidate is not None and self.reason in (None, NOT_A_SALE)


def decide(context: BookingContext, origin: BuyerOrigin, at: datetime, signups: Signups = NO_SIGNUPS) -> Credit:
    """Decide which affiliate an origin credits at a time. Budget: 1 statement.

    `signups` are the answers of platforms. Closed campaigns credit no one. Campaigns that do not pay for sales count
    only where the origin names no affiliate of another: the sale is then attributed without a commission.
    Raises TryAgain while a redeemed code is being minted.
    """
    rows = credit_candidates.list_candidates(
        build_query(context, origin, at, signups), organization_id=context.organization_id
    )
    return decide_by_rows(context, origin, at, rows, signups)


def build_query(
    context: BookingContext, origin: BuyerOrigin, at: datetime, signups: Signups = NO_SIGNUPS
) -> PaymentOrigin:
    """Return the query for the candidates that an origin names, for `decide_by_rows`."""
    claims = _list_claims(context, origin)
    return PaymentOrigin(
        gateway=context.gateway,
        connection_id=context.connection.id,
        slugs=[*(claim.slug for claim in claims), *(claim.slug for claim in signups.claims)],
        codes=_list_codes(origin),
        customer_id=origin.customer_id,
        subscription_id=origin.subscription_id,
        email_normalized=normalize_email(origin),
        payer=customer_names(context, origin),
        is_test=is_test(context, origin),
        at=at,
        slugs_may_be=[claim.may_be for claim in claims],
    )


def decide_by_rows(
    context: BookingContext,
    origin: BuyerOrigin,
    at: datetime,
    rows: Sequence[CreditCandidate],
    signups: Signups = NO_SIGNUPS,
) -> Credit:
    """Decide as `decide` does, by the candidates that were read. Raises as it."""
    earning = [row for row in rows if row.may_earn]
    credited = _credit(context, origin, at, earning, signups)
    if credited.candidate is not None:
        return credited
    # A platform that is queried again may still name an affiliate who earns.
    final = signups if signups.is_last else NO_SIGNUPS
    unpaid = [row for row in rows if row.is_open and not row.may_earn]
    attributed = _credit(context, origin, at, unpaid, final)
    if attributed.candidate is not None:
        return replace(
            attributed, candidate=attributed.candidate if attributed.reason is None else None, reason=NOT_A_SALE
        )
    return replace(credited, reason=CLOSED if rows and not any(row.is_open for row in rows) else NO_REFERRAL)


def _credit(
    context: BookingContext, origin: BuyerOrigin, at: datetime, candidates: Sequence[CreditCandidate], signups: Signups
) -> Credit:
    """Decide among these candidates; the result has none, and reason NO_REFERRAL, where the origin credits no one."""
    claims, codes = _list_claims(context, origin), _list_codes(origin)
    by_slug = {candidate.slug: candidate for candidate in candidates if candidate.by == "claim"}
    claim = next((claim for claim in claims if claim.slug in by_slug), None)
    earlier = next((candidate for candidate in candidates if candidate.by in _HISTORY), None)
    code_owner = _find_code_owner(context, candidates)
    door = next((candidate for candidate in candidates if candidate.by == "door"), None)
    decision = credit.decide(
        Facts(
            paid_at=at,
            gateway=context.gateway,
            buyer_email=normalize_email(origin),
            sub_id=subid.normalize(referrals.find_tag(origin.carriers)),
            coupon=_coupon(code_owner, codes),
            referral=_referral(by_slug[claim.slug], claim) if claim else None,
            history=History(_candidate(earlier), _history_method(context.gateway, earlier)) if earlier else None,
            door=_candidate(door) if door else None,
            lead=_lead(next((candidate for candidate in candidates if candidate.by == "lead"), None)),
            signup=_signup(signups, by_slug),
        )
    )
    uncredited = decision.uncredited
    affiliate_id = uncredited.affiliate_id if uncredited else decision.affiliate_id
    candidate = next((candidate for candidate in candidates if candidate.affiliate_id == affiliate_id), None)
    if candidate is None:
        return Credit(decision, None, NO_REFERRAL)
    is_owner = code_owner is not None and code_owner.affiliate_id == decision.affiliate_id
    code = code_owner.code if code_owner and is_owner else None
    return Credit(decision, candidate, NOT_ACTIVE if uncredited else None, code)


def claim_window(context: BookingContext, carriers: Sequence[Carrier], at: datetime) -> timedelta | None:
    """Return the cookie window of the campaign whose affiliate carriers name; None where they name no one.

    Budget: 1 statement where they claim anything, else none.
    """
    origin = BuyerOrigin(carriers=tuple(carriers))
    claims = _list_claims(context, origin)
    if not claims:
        return None
    rows = credit_candidates.list_candidates(build_query(context, origin, at), organization_id=context.organization_id)
    by_slug = {row.slug: row for row in sorted(rows, key=lambda row: row.may_earn)}
    claimed_rows = [by_slug[claim.slug] for claim in claims if claim.slug in by_slug]
    credited = next((row for row in claimed_rows if row.may_earn), claimed_rows[0] if claimed_rows else None)
    return None if credited is None else timedelta(days=credited.cookie_window_days)


def is_test(context: BookingContext, origin: BuyerOrigin) -> bool:
    """Return whether payments of this origin are test payments."""
    return origin.is_test or context.connection.mode == "test"


def normalize_email(origin: BuyerOrigin) -> str | None:
    """Return the normalized email of an origin, which identifies a person; None without one."""
    return emails.normalize(origin.email) if origin.email else None


def customer_names(context: BookingContext, origin: BuyerOrigin) -> CustomerNames:
    """Return the names by which a program counts the payments of an origin."""
    return customers.names(
        customer_id=origin.customer_id,
        email=origin.email,
        subscription_id=origin.subscription_id,
        gateway=context.gateway,
        is_test=is_test(context, origin),
    )


def _list_claims(context: BookingContext, origin: BuyerOrigin) -> list[Claim]:
    return list(referrals.list_claims(origin.carriers, context.parameters))[:_MAX_CLAIMS]


def _list_codes(origin: BuyerOrigin) -> list[RedeemedCode]:
    """Return the redeemed codes in their order, each once."""
    by_name = {(code.id, code.text.upper()): code for code in reversed(origin.codes[:_MAX_CODES])}
    return list(reversed(by_name.values()))


def _candidate(candidate: CreditCandidate) -> NamedAffiliate:
    return NamedAffiliate(candidate.affiliate_id, candidate.affiliate_status, email=candidate.affiliate_email)


def _find_code_owner(context: BookingContext, candidates: Sequence[CreditCandidate]) -> CreditCandidate | None:
    """Return the owner of the first code that overrides, else of the first code."""
    owners = [(candidate, candidate.code) for candidate in candidates if candidate.code is not None]
    if any(code.is_minting for _, code in owners):
        raise TryAgain(at=context.now + _MINTING_DELAY, why="the code that the buyer used is being minted")
    overriding = next((candidate for candidate, code in owners if code.overrides), None)
    return overriding or next((candidate for candidate, _ in owners), None)


def _referral(candidate: CreditCandidate, claim: Claim) -> Referral:
    return Referral(_candidate(candidate), CHECKOUT_DOOR if candidate.came_by_door else claim.method)


def _coupon(candidate: CreditCandidate | None, codes: Sequence[RedeemedCode]) -> Coupon | None:
    if candidate is None or candidate.code is None:
        return None
    code = candidate.code
    method = PROMOTION_CODE if code.origin == CodeOrigin.External else codes[code.place - 1].method
    return Coupon(_candidate(candidate), code.overrides, method, is_revoked=code.is_revoked)


def _signup(signups: Signups, by_slug: Mapping[str | None, CreditCandidate]) -> Signup | None:
    """Return the first claim of an Approved affiliate; where no further answer is expected, the first of any."""
    claims = [(claim, by_slug[claim.slug]) for claim in signups.claims if claim.slug in by_slug]
    approved = [(claim, row) for claim, row in claims if row.affiliate_status == AffiliateStatus.Approved]
    counted = approved or (claims if signups.is_last else [])
    return Signup(_candidate(counted[0][1]), counted[0][0].platform) if counted else None


def _lead(candidate: CreditCandidate | None) -> Lead | None:
    if candidate is None or candidate.lead_id is None or candidate.occurred_at is None:
        return None
    return Lead(
        candidate.lead_id,
        _candidate(candidate),
        candidate.occurred_at,
        candidate.sub_id,
        is_after_payment=bool(candidate.is_after_payment),
    )


def _history_method(gateway: str, candidate: CreditCandidate) -> str:
    return f"{gateway}_{_HISTORY_OF.get(gateway, _HISTORY)[candidate.by]}"
