"""A conversion as it is explained to its affiliate: the state of its money, and why it was credited to them.

The sentences name no one but the affiliate; states are for machines and fixed, sentences may be reworded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from domain.attribution import log
from domain.conversions.commission import CommissionType
from domain.statuses import UNPAID, ConversionStatus, Payability


class EarningState(StrEnum):
    """The state of a conversion's money. Held: not due yet. NotPayable: it never earns, or is imported history."""

    Held = "Held"
    Disputed = "Disputed"
    Payable = "Payable"
    OnItsWay = "OnItsWay"
    Paid = "Paid"
    Refunded = "Refunded"
    Denied = "Denied"
    Invalidated = "Invalidated"
    NotPayable = "NotPayable"


@dataclass(frozen=True, slots=True)
class EarningFacts:
    """The facts for the state and the sentences. `attribution_log` is the stored form; times are aware UTC.

    `is_adjusted`: the brand set a commission other than the rate's.
    """

    status: str
    payability: str
    payout_locked: bool
    is_on_its_way: bool
    is_disputed: bool
    self_referral: bool
    needs_approval: bool
    hold_until: datetime
    attribution_method: str | None
    attribution_log: Sequence[str] | None
    coupon_code: str | None
    rate_type: str | None
    rate_value: Decimal | None
    rate_source: str
    refunded_cents: int
    reversed_cents: int
    is_adjusted: bool


def state(facts: EarningFacts, *, now: datetime) -> EarningState:
    """Return the state of a conversion's money at a time, as a payout run would see it."""
    if facts.status not in UNPAID and facts.status != ConversionStatus.Paid:
        return EarningState(facts.status)
    if facts.is_on_its_way:
        return EarningState.OnItsWay
    if facts.status == ConversionStatus.Paid:
        return EarningState.Paid
    if facts.payout_locked or facts.payability != Payability.payable:
        return EarningState.NotPayable
    if facts.is_disputed:
        return EarningState.Disputed
    is_held = facts.status == ConversionStatus.Pending and (facts.needs_approval or facts.hold_until > now)
    return EarningState.Held if is_held else EarningState.Payable


def payable_at(facts: EarningFacts, earning_state: EarningState) -> datetime | None:
    """Return the time from which the money can be in a payout.

    None where it never can, during a dispute, and until the brand has given a required approval.
    """
    if earning_state == EarningState.Held and facts.needs_approval:
        return None
    return (
        facts.hold_until if earning_state in (EarningState.Held, EarningState.Payable, EarningState.OnItsWay) else None
    )


def explain(facts: EarningFacts, earning_state: EarningState) -> list[str]:
    """Return sentences on why a conversion was credited to the affiliate, its rate and its state, in this order."""
    if facts.attribution_method == _RESTORE:
        return [_explain_credit(facts)]
    sentences = [
        _explain_credit(facts),
        "The buyer's email address is your own." if facts.self_referral else None,
        _explain_rate(facts),
        _explain_reversal(facts),
        _explain_state(facts, earning_state),
    ]
    return [sentence for sentence in sentences if sentence]


_STEPS = {
    "coupon_override": "The buyer used your coupon code{code}, which overrides other referrals.",
    "carried_referral": "The buyer came through your link.",
    "customer_history": "An earlier purchase of this customer was credited to you.",
    "coupon": "The buyer used your coupon code{code}.",
    "email_match": "The buyer had signed up through you before.",
    "platform_lookup": "The brand's email or CRM platform names you as the referrer.",
}
_RESTORE = "restore"
_ORIGINS = {
    _RESTORE: "It represents a payment to you from before the service was restored, and earns nothing.",
    "manual": "The brand recorded it by hand.",
    "historical_import": "The brand imported it from another service.",
    "sub_affiliate_override": "You recruited the affiliate who referred the sale.",
    "cpc_aggregation": "Visitors came through your link.",
    "lead_signup": "A visitor signed up through your link.",
    "lead_form": "A visitor sent the lead form through your link.",
}
_SOURCES = {
    "affiliate": "your own rate",
    "coupon": "the rate of your code",
    "group": "the rate of your group",
    "tier": "the rate of the tier that you reached",
    "program": "the rate of the program",
    "sub_affiliate": "your share of your recruit's commission",
}
_STATES = {
    EarningState.Held: "It is on hold until the refund period is over.",
    EarningState.Disputed: "The buyer disputed the payment with their bank. It is on hold until this is decided.",
    EarningState.OnItsWay: "It is in a payout that is on its way.",
    EarningState.Refunded: "The buyer was refunded in full.",
    EarningState.Denied: "The brand denied it.",
    EarningState.Invalidated: "It was marked as invalid. The brand can still validate it.",
    EarningState.NotPayable: "It is recorded, but not paid here.",
}
_LOCKED = "The brand imported it as history: it was settled outside this service, so it is recorded but not paid here."
_PAID_ELSEWHERE = "It was paid to you outside this service before the import, and is not paid again here."
_AWAITS_APPROVAL = "It is paid only after the brand approves it."


def _explain_state(facts: EarningFacts, earning_state: EarningState) -> str | None:
    if earning_state == EarningState.Paid and facts.payout_locked:
        return _PAID_ELSEWHERE
    if earning_state == EarningState.NotPayable and facts.payout_locked:
        return _LOCKED
    if earning_state == EarningState.Held and facts.needs_approval:
        return _AWAITS_APPROVAL
    return _STATES.get(earning_state)


def _explain_credit(facts: EarningFacts) -> str:
    return _choose_template(facts).format(code=f" {facts.coupon_code}" if facts.coupon_code else "")


def _choose_template(facts: EarningFacts) -> str:
    if facts.attribution_log:
        matching_steps = (line.step for line in log.read(facts.attribution_log) if line.outcome == "matched")
        return _STEPS[next(matching_steps, "carried_referral")]
    name = (facts.attribution_method or "").partition(":")[0]
    return _ORIGINS.get(name, _STEPS["carried_referral"])


def _explain_rate(facts: EarningFacts) -> str | None:
    if facts.is_adjusted:
        return "The brand set your commission by hand."
    source = _SOURCES.get(facts.rate_source)
    if facts.rate_type is None or facts.rate_value is None or source is None:
        return None
    value = f"{facts.rate_value.normalize():,f}"
    share = f"{value} %" if facts.rate_type == CommissionType.Percentage else f"A fixed {value}"
    return f"{share}: {source}."


def _explain_reversal(facts: EarningFacts) -> str | None:
    if not facts.reversed_cents or facts.status == ConversionStatus.Refunded:
        return None
    return "Part of the sale was refunded to the buyer, and your commission was reduced accordingly."
