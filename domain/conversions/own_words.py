"""What an affiliate is told of one of their conversions: where its money stands, and why it is theirs.

The sentences name nobody but the affiliate; states are for machines and stay, sentences may be reworded.
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
    """Where the money of a conversion stands. Held: its day has not come. NotPayable: it never earns, or is history."""

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
    """What a state and the sentences are made from. `attribution_log` as it is stored; aware UTC.

    `is_adjusted`: the brand set another commission than its rate comes to.
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
    """Return where the money of a conversion stands at a moment, as a payout run would find it."""
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


def payable_at(facts: EarningFacts, found: EarningState) -> datetime | None:
    """Return from when on the money can be in a payout.

    None where it never can, while a dispute goes on, and until the brand has approved what needs its approval.
    """
    if found == EarningState.Held and facts.needs_approval:
        return None
    return facts.hold_until if found in (EarningState.Held, EarningState.Payable, EarningState.OnItsWay) else None


def reasons(facts: EarningFacts, found: EarningState) -> list[str]:
    """Return why a conversion is the affiliate's, by which rate, and what became of it: sentences in this order."""
    if facts.attribution_method == _RESTORE:
        return [_credited(facts)]
    sentences = [_credited(facts), _own_purchase(facts), _by_rate(facts), _taken_back(facts), _where(facts, found)]
    return [sentence for sentence in sentences if sentence]


_STEPS = {
    "coupon_override": "The buyer redeemed your code{code}, which goes before everything else.",
    "carried_referral": "The buyer came through your link.",
    "customer_history": "You brought this customer before.",
    "coupon": "The buyer redeemed your code{code}.",
    "email_match": "The buyer had signed up through you before.",
    "platform_lookup": "The brand's newsletter or customer platform names you as who brought the buyer.",
}
_RESTORE = "restore"
_ORIGINS = {
    _RESTORE: "It stands for what was paid to you before the service was restored, and earns nothing.",
    "manual": "The brand recorded it by hand.",
    "historical_import": "The brand brought it from another service.",
    "sub_affiliate_override": "You recruited the affiliate who brought the sale.",
    "cpc_aggregation": "Visitors came through your link.",
    "lead_signup": "Somebody signed up through your link.",
    "lead_form": "Somebody sent the lead form through your link.",
}
_SOURCES = {
    "affiliate": "your own rate",
    "coupon": "the rate of your code",
    "group": "the rate of your group",
    "tier": "the rate of the tier that you have reached",
    "program": "the rate of the program",
    "sub_affiliate": "your share of what your recruit earns",
}
_STATES = {
    EarningState.Held: "It waits until the time for refunds is over.",
    EarningState.Disputed: "The buyer's bank is asked to give the money back; it waits until that is decided.",
    EarningState.OnItsWay: "It is in a payout that is on its way.",
    EarningState.Refunded: "The buyer was given everything back.",
    EarningState.Denied: "The brand denied it.",
    EarningState.Invalidated: "It was found invalid; the brand can still validate it.",
    EarningState.NotPayable: "It is counted here and never paid here.",
}
_LOCKED = (
    "The brand imported it as history: it was settled outside this service, so it is counted here and never paid here."
)
_PAID_BEFORE = "It was paid to you outside this service before the brand imported it, and is not paid here again."
_AWAITS_APPROVAL = "It is paid only after the brand has approved it."


def _where(facts: EarningFacts, found: EarningState) -> str | None:
    if found == EarningState.Paid and facts.payout_locked:
        return _PAID_BEFORE
    if found == EarningState.NotPayable and facts.payout_locked:
        return _LOCKED
    if found == EarningState.Held and facts.needs_approval:
        return _AWAITS_APPROVAL
    return _STATES.get(found)


def _own_purchase(facts: EarningFacts) -> str | None:
    return "The buyer's email address is your own." if facts.self_referral else None


def _credited(facts: EarningFacts) -> str:
    return _step_of(facts).format(code=f" {facts.coupon_code}" if facts.coupon_code else "")


def _step_of(facts: EarningFacts) -> str:
    if facts.attribution_log:
        decided = (line.step for line in log.read(facts.attribution_log) if line.outcome == "matched")
        return _STEPS[next(decided, "carried_referral")]
    name = (facts.attribution_method or "").partition(":")[0]
    return _ORIGINS.get(name, _STEPS["carried_referral"])


def _by_rate(facts: EarningFacts) -> str | None:
    if facts.is_adjusted:
        return "The brand set by hand what you earn for it."
    source = _SOURCES.get(facts.rate_source)
    if facts.rate_type is None or facts.rate_value is None or source is None:
        return None
    value = f"{facts.rate_value.normalize():,f}"
    share = f"{value} %" if facts.rate_type == CommissionType.Percentage else f"A fixed {value}"
    return f"{share}: {source}."


def _taken_back(facts: EarningFacts) -> str | None:
    if not facts.reversed_cents or facts.status == ConversionStatus.Refunded:
        return None
    return "A part was refunded to the buyer, and your share of it went back."
