"""Whom the origin of a payment credits, by the six steps in their order.

Source: tracking spec, section 8 "Lead attribution order", "Attribution method taxonomy", "Coupons" (redeemed codes).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain import emails
from domain.attribution import Coupon, Decision, Facts, History, Lead, NamedAffiliate, Referral, Signup
from domain.attribution.facts import CHECKOUT_DOOR, PROMOTION_CODE
from domain.clicks import subid
from domain.conversions import customers
from domain.coupons.discounts import CodeOrigin
from domain.gateways import referrals
from domain.gateways.facts import BuyerOrigin, RedeemedCode
from domain.gateways.referrals import Claim
from domain.platforms.signups import NOT_ASKED, Signups
from domain.statuses import AffiliateStatus
from models.gateways import creditable
from models.gateways.creditable import AskedOrigin, Creditable, RedeemableCode
from pipelines.conversions import credit
from pipelines.gateways.booking.desk import BookingDesk
from pipelines.work import TryAgain

#: Why nobody earns: nobody was named; only those of campaigns that are closed; somebody who is not Approved.
NOBODY, CLOSED, NOT_ACTIVE = "nobody_referred", "no_active_program", "affiliate_not_active"

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
    named: Creditable | None
    reason: str | None
    code: RedeemableCode | None = None


def of(desk: BookingDesk, origin: BuyerOrigin, at: datetime, signups: Signups = NOT_ASKED) -> Credit:
    """Decide whom an origin credits at a moment. Budget: 1 statement.

    `signups` are what platforms say. An affiliate of a campaign that is closed, or that does not pay for sales, is not
    asked. Raises TryAgain while a redeemed code is being minted.
    """
    rows = creditable.named(asked(desk, origin, at, signups), organization_id=desk.organization_id)
    return decided(desk, origin, at, rows, signups)


def asked(desk: BookingDesk, origin: BuyerOrigin, at: datetime, signups: Signups = NOT_ASKED) -> AskedOrigin:
    """Return what is to be asked about an origin before `decided`."""
    return AskedOrigin(
        gateway=desk.gateway,
        connection_id=desk.connection.id,
        slugs=[*(claim.slug for claim in _claimed(desk, origin)), *(claim.slug for claim in signups.claims)],
        codes=_redeemed(origin),
        customer_id=origin.customer_id,
        subscription_id=origin.subscription_id,
        email_normalized=inbox_of(origin),
        payer=customer_key(desk, origin),
        is_test=is_test(desk, origin),
        at=at,
    )


def decided(
    desk: BookingDesk, origin: BuyerOrigin, at: datetime, rows: Sequence[Creditable], signups: Signups = NOT_ASKED
) -> Credit:
    """Decide as `of` does, of the affiliates whom the origin was found to name. Raises as it."""
    claimed, redeemed = _claimed(desk, origin), _redeemed(origin)
    able = [named for named in rows if named.may_earn]
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
            sub_id=subid.normalize(referrals.tag(origin.carriers)),
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
        return Credit(decision, None, CLOSED if rows and not able else NOBODY)
    is_owners = coded is not None and coded.affiliate_id == decision.affiliate_id
    return Credit(decision, named, NOT_ACTIVE if dropped else None, coded.code if coded and is_owners else None)


def is_test(desk: BookingDesk, origin: BuyerOrigin) -> bool:
    """Say whether money of this origin is only a rehearsal."""
    return origin.is_test or desk.connection.mode == "test"


def inbox_of(origin: BuyerOrigin) -> str | None:
    """Return the inbox that an origin's email leads to, by which a person is known."""
    return emails.normalize(origin.email) if origin.email else None


def customer_key(desk: BookingDesk, origin: BuyerOrigin) -> str | None:
    """Return by whom a campaign counts the payments of an origin; None for nobody in particular."""
    customer = f"{desk.gateway}:{origin.customer_id}" if origin.customer_id else None
    return customers.key(customer_id=customer, email=origin.email, is_test=is_test(desk, origin))


def _claimed(desk: BookingDesk, origin: BuyerOrigin) -> list[Claim]:
    return list(referrals.claims(origin.carriers, desk.parameters))[:_MOST_CLAIMS]


def _redeemed(origin: BuyerOrigin) -> list[RedeemedCode]:
    """Return the redeemed codes in their order, each once."""
    by_name = {(code.id, code.text.upper()): code for code in reversed(origin.codes[:_MOST_CODES])}
    return list(reversed(by_name.values()))


def _candidate(named: Creditable) -> NamedAffiliate:
    return NamedAffiliate(named.affiliate_id, named.affiliate_status, email=named.affiliate_email)


def _coded(desk: BookingDesk, able: Sequence[Creditable]) -> Creditable | None:
    """Return the owner of the first code that overrides, else of the first code."""
    coded = [(named, named.code) for named in able if named.code is not None]
    if any(code.is_minting for _, code in coded):
        raise TryAgain(at=desk.now + _WHILE_MINTED, why="the code that the buyer used is being minted")
    overriding = next((named for named, code in coded if code.overrides), None)
    return overriding or next((named for named, _ in coded), None)


def _referral(named: Creditable, claim: Claim) -> Referral:
    return Referral(_candidate(named), CHECKOUT_DOOR if named.came_by_door else claim.method)


def _coupon(named: Creditable | None, redeemed: Sequence[RedeemedCode]) -> Coupon | None:
    if named is None or named.code is None:
        return None
    code = named.code
    method = PROMOTION_CODE if code.origin == CodeOrigin.External else redeemed[code.place - 1].method
    return Coupon(_candidate(named), code.overrides, method, is_revoked=code.is_revoked)


def _signup(signups: Signups, by_slug: Mapping[str | None, Creditable]) -> Signup | None:
    """Return the first claim that names somebody Approved; the first that names anybody where no more will come."""
    named = [(claim, by_slug[claim.slug]) for claim in signups.claims if claim.slug in by_slug]
    approved = [(claim, who) for claim, who in named if who.affiliate_status == AffiliateStatus.Approved]
    found = approved or (named if signups.is_last else [])
    return Signup(_candidate(found[0][1]), found[0][0].platform) if found else None


def _lead_named(named: Creditable | None) -> Lead | None:
    if named is None or named.lead_id is None or named.occurred_at is None:
        return None
    return Lead(named.lead_id, _candidate(named), named.occurred_at, named.sub_id)


def _history_method(gateway: str, named: Creditable) -> str:
    return f"{gateway}_{_HISTORY_OF.get(gateway, _HISTORY)[named.by]}"
