"""Whom the origin of a payment credits, by the six steps in their order.

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
from pipelines.gateways.booking.desk import BookingDesk
from pipelines.work import TryAgain

#: Why no commission is earned: no affiliate was named; only affiliates of closed campaigns; one who is not Approved;
#: only affiliates of campaigns that pay for clicks or leads and not for sales.
NOBODY, CLOSED, NOT_ACTIVE, NOT_A_SALE = (
    "nobody_referred",
    "no_active_program",
    "affiliate_not_active",
    "not_a_sale_campaign",
)

_MOST_CLAIMS, _MOST_CODES = 20, 20
_WHILE_MINTED = timedelta(seconds=30)
# Paypal names no customer before the money comes; its subscriptions are what a payment belongs to.
_HISTORY = {"customer": "customer_history", "subscription": "customer_history", "email": "customer_history"}
_HISTORY_OF = {"paypal": {**_HISTORY, "subscription": "subscription_history"}}


@dataclass(frozen=True, slots=True)
class Credit:
    """Whom an origin credits. `named` is whom the decision is about, `reason` why they earn nothing (None: they do).

    `code` is the redeemed one, where its owner is credited, by whichever step.
    """

    decision: Decision
    named: CreditCandidate | None
    reason: str | None
    code: RedeemableCode | None = None

    @property
    def is_attributed(self) -> bool:
        """Whether an affiliate brought the buyer, also where their campaign does not pay for it."""
        return self.named is not None and self.reason in (None, NOT_A_SALE)


def of(desk: BookingDesk, origin: BuyerOrigin, at: datetime, signups: Signups = NO_SIGNUPS) -> Credit:
    """Decide whom an origin credits at a moment. Budget: 1 statement.

    `signups` are what platforms say. Campaigns that are closed credit nobody. Those that do not pay for sales are asked
    only where none that does names an affiliate: the sale is then attributed without a commission.
    Raises TryAgain while a redeemed code is being minted.
    """
    rows = credit_candidates.list_candidates(asked(desk, origin, at, signups), organization_id=desk.organization_id)
    return decided(desk, origin, at, rows, signups)


def asked(desk: BookingDesk, origin: BuyerOrigin, at: datetime, signups: Signups = NO_SIGNUPS) -> PaymentOrigin:
    """Return what is to be asked about an origin before `decided`."""
    return PaymentOrigin(
        gateway=desk.gateway,
        connection_id=desk.connection.id,
        slugs=[*(claim.slug for claim in _claimed(desk, origin)), *(claim.slug for claim in signups.claims)],
        codes=_redeemed(origin),
        customer_id=origin.customer_id,
        subscription_id=origin.subscription_id,
        email_normalized=inbox_of(origin),
        payer=customer_names(desk, origin),
        is_test=is_test(desk, origin),
        at=at,
    )


def decided(
    desk: BookingDesk, origin: BuyerOrigin, at: datetime, rows: Sequence[CreditCandidate], signups: Signups = NO_SIGNUPS
) -> Credit:
    """Decide as `of` does, of the affiliates whom the origin was found to name. Raises as it."""
    able = [named for named in rows if named.may_earn]
    paid = _credit(desk, origin, at, able, signups)
    if paid.named is not None:
        return paid
    # A platform that is asked again may still name an affiliate who earns.
    final = signups if signups.is_last else NO_SIGNUPS
    unpaid = [named for named in rows if named.is_open and not named.may_earn]
    attributed = _credit(desk, origin, at, unpaid, final)
    if attributed.named is not None:
        return replace(attributed, named=attributed.named if attributed.reason is None else None, reason=NOT_A_SALE)
    return replace(paid, reason=CLOSED if rows and not any(named.is_open for named in rows) else NOBODY)


def _credit(
    desk: BookingDesk, origin: BuyerOrigin, at: datetime, able: Sequence[CreditCandidate], signups: Signups
) -> Credit:
    """Decide among these affiliates; `named` is None, and `reason` NOBODY, where none of them is meant."""
    claimed, redeemed = _claimed(desk, origin), _redeemed(origin)
    by_slug = {named.slug: named for named in able if named.by == "claim"}
    claim = next((claim for claim in claimed if claim.slug in by_slug), None)
    earlier = next((named for named in able if named.by in _HISTORY), None)
    coded = _coded(desk, able)
    door = next((named for named in able if named.by == "door"), None)
    decision = credit.decide(
        Facts(
            paid_at=at,
            gateway=desk.gateway,
            buyer_email=inbox_of(origin),
            sub_id=subid.normalize(referrals.find_tag(origin.carriers)),
            coupon=_coupon(coded, redeemed),
            referral=_referral(by_slug[claim.slug], claim) if claim else None,
            history=History(_candidate(earlier), _history_method(desk.gateway, earlier)) if earlier else None,
            door=_candidate(door) if door else None,
            lead=_lead_named(next((named for named in able if named.by == "lead"), None)),
            signup=_signup(signups, by_slug),
        )
    )
    dropped = decision.uncredited
    about = dropped.affiliate_id if dropped else decision.affiliate_id
    named = next((named for named in able if named.affiliate_id == about), None)
    if named is None:
        return Credit(decision, None, NOBODY)
    is_owners = coded is not None and coded.affiliate_id == decision.affiliate_id
    return Credit(decision, named, NOT_ACTIVE if dropped else None, coded.code if coded and is_owners else None)


def claim_window(desk: BookingDesk, carriers: Sequence[Carrier], at: datetime) -> timedelta | None:
    """Return the cookie window of the campaign whose affiliate carriers name; None where they name no one.

    Budget: 1 statement where they claim anything, else none.
    """
    origin = BuyerOrigin(carriers=tuple(carriers))
    claimed = _claimed(desk, origin)
    if not claimed:
        return None
    rows = credit_candidates.list_candidates(asked(desk, origin, at), organization_id=desk.organization_id)
    by_slug = {row.slug: row for row in sorted(rows, key=lambda row: row.may_earn)}
    named = [by_slug[claim.slug] for claim in claimed if claim.slug in by_slug]
    credited = next((row for row in named if row.may_earn), named[0] if named else None)
    return None if credited is None else timedelta(days=credited.cookie_window_days)


def is_test(desk: BookingDesk, origin: BuyerOrigin) -> bool:
    """Say whether money of this origin is only a rehearsal."""
    return origin.is_test or desk.connection.mode == "test"


def inbox_of(origin: BuyerOrigin) -> str | None:
    """Return the inbox that an origin's email leads to, by which a person is known."""
    return emails.normalize(origin.email) if origin.email else None


def customer_names(desk: BookingDesk, origin: BuyerOrigin) -> CustomerNames:
    """Return by which names a program counts the payments of an origin."""
    return customers.names(
        customer_id=origin.customer_id, email=origin.email, gateway=desk.gateway, is_test=is_test(desk, origin)
    )


def _claimed(desk: BookingDesk, origin: BuyerOrigin) -> list[Claim]:
    return list(referrals.list_claims(origin.carriers, desk.parameters))[:_MOST_CLAIMS]


def _redeemed(origin: BuyerOrigin) -> list[RedeemedCode]:
    """Return the redeemed codes in their order, each once."""
    by_name = {(code.id, code.text.upper()): code for code in reversed(origin.codes[:_MOST_CODES])}
    return list(reversed(by_name.values()))


def _candidate(named: CreditCandidate) -> NamedAffiliate:
    return NamedAffiliate(named.affiliate_id, named.affiliate_status, email=named.affiliate_email)


def _coded(desk: BookingDesk, able: Sequence[CreditCandidate]) -> CreditCandidate | None:
    """Return the owner of the first code that overrides, else of the first code."""
    coded = [(named, named.code) for named in able if named.code is not None]
    if any(code.is_minting for _, code in coded):
        raise TryAgain(at=desk.now + _WHILE_MINTED, why="the code that the buyer used is being minted")
    overriding = next((named for named, code in coded if code.overrides), None)
    return overriding or next((named for named, _ in coded), None)


def _referral(named: CreditCandidate, claim: Claim) -> Referral:
    return Referral(_candidate(named), CHECKOUT_DOOR if named.came_by_door else claim.method)


def _coupon(named: CreditCandidate | None, redeemed: Sequence[RedeemedCode]) -> Coupon | None:
    if named is None or named.code is None:
        return None
    code = named.code
    method = PROMOTION_CODE if code.origin == CodeOrigin.External else redeemed[code.place - 1].method
    return Coupon(_candidate(named), code.overrides, method, is_revoked=code.is_revoked)


def _signup(signups: Signups, by_slug: Mapping[str | None, CreditCandidate]) -> Signup | None:
    """Return the first claim that names somebody Approved; the first that names anybody where no more will come."""
    named = [(claim, by_slug[claim.slug]) for claim in signups.claims if claim.slug in by_slug]
    approved = [(claim, who) for claim, who in named if who.affiliate_status == AffiliateStatus.Approved]
    found = approved or (named if signups.is_last else [])
    return Signup(_candidate(found[0][1]), found[0][0].platform) if found else None


def _lead_named(named: CreditCandidate | None) -> Lead | None:
    if named is None or named.lead_id is None or named.occurred_at is None:
        return None
    return Lead(
        named.lead_id,
        _candidate(named),
        named.occurred_at,
        named.sub_id,
        is_after_payment=bool(named.is_after_payment),
    )


def _history_method(gateway: str, named: CreditCandidate) -> str:
    return f"{gateway}_{_HISTORY_OF.get(gateway, _HISTORY)[named.by]}"
