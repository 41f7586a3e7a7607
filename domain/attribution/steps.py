"""The steps of the attribution order, but for the email match: each looks at the facts of a payment for an affiliate.

Source: tracking spec, section 8 "Lead attribution order"; "Attribution method taxonomy"; "Coupon codes", rules 1 to 3
of a redeemed code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from domain.attribution.facts import PROMOTION_CODE, Facts, NamedAffiliate

#: The method of an affiliate who is named by something else, and whose code the payment redeemed too.
WITH_OWN_CODE = "coupon_with_metadata"


@dataclass(frozen=True, slots=True)
class StepMatch:
    """The step names an affiliate; `method` is the conversion's attribution method, None for a signed sale."""

    code: str
    affiliate: NamedAffiliate
    method: str | None


@dataclass(frozen=True, slots=True)
class StepSkip:
    """The step names no affiliate, or comes too late; `affiliate_id` is the affiliate concerned, if any."""

    code: str
    affiliate_id: UUID | None = None


Outcome = StepMatch | StepSkip


@dataclass(frozen=True, slots=True)
class AttributionStep:
    """A step of the order: its stored name, its function, and a sentence for each code that it can return."""

    name: str
    look: Callable[[Facts], Outcome]
    matches: Mapping[str, str]
    skips: Mapping[str, str]


def choose_method(facts: Facts, affiliate: NamedAffiliate, own: str | None) -> str | None:
    """Return the method of a match that no code decided, given its `own` method.

    With a promotion code on the payment: coupon_with_metadata for the code's owner, metadata_or_customer for another.
    """
    if facts.coupon is None or facts.coupon.method != PROMOTION_CODE:
        return own
    return WITH_OWN_CODE if facts.coupon.owner.id == affiliate.id else "metadata_or_customer"


def _match_overriding_coupon(facts: Facts) -> Outcome:
    if facts.coupon is None:
        return StepSkip("no_coupon")
    if not facts.coupon.overrides:
        return StepSkip("coupon_does_not_override", facts.coupon.owner.id)
    code = "revoked_coupon_overrides" if facts.coupon.is_revoked else "coupon_overrides"
    return StepMatch(code, facts.coupon.owner, facts.coupon.method)


def _match_referral(facts: Facts) -> Outcome:
    if facts.referral is None:
        return StepSkip("no_referral")
    affiliate = facts.referral.affiliate
    return StepMatch("referral_carried", affiliate, choose_method(facts, affiliate, facts.referral.method))


def _match_history(facts: Facts) -> Outcome:
    if facts.history is None:
        return StepSkip("customer_unknown")
    affiliate = facts.history.affiliate
    return StepMatch("customer_known", affiliate, choose_method(facts, affiliate, facts.history.method))


def _match_coupon(facts: Facts) -> Outcome:
    if facts.coupon is None:
        return StepSkip("no_coupon")
    code = "revoked_coupon_redeemed" if facts.coupon.is_revoked else "coupon_redeemed"
    return StepMatch(code, facts.coupon.owner, facts.coupon.method)


def _match_platform_signup(facts: Facts) -> Outcome:
    """Match the affiliate of a platform's signup record. Here the buyer may be the affiliate."""
    if facts.signup is None:
        return StepSkip("platform_unknown")
    return StepMatch("platform_signup", facts.signup.affiliate, f"crm_lookup:{facts.signup.platform}")


COUPON_OVERRIDE = AttributionStep(
    name="coupon_override",
    look=_match_overriding_coupon,
    matches={
        "coupon_overrides": "The buyer used a coupon code that overrides other referrals.",
        "revoked_coupon_overrides": (
            "The buyer used a coupon code that is revoked here, but that the payment provider accepted; "
            "it overrides other referrals."
        ),
    },
    skips={
        "no_coupon": "The buyer used no coupon code.",
        "coupon_does_not_override": ("The buyer used a coupon code, but its coupon does not override other referrals."),
    },
)
CARRIED_REFERRAL = AttributionStep(
    name="carried_referral",
    look=_match_referral,
    matches={"referral_carried": "The payment carries the affiliate's referral."},
    skips={"no_referral": "The payment carries no referral."},
)
CUSTOMER_HISTORY = AttributionStep(
    name="customer_history",
    look=_match_history,
    matches={"customer_known": "An earlier payment of the same customer was credited to the affiliate."},
    skips={"customer_unknown": "No earlier payment of this customer was credited to an affiliate."},
)
COUPON = AttributionStep(
    name="coupon",
    look=_match_coupon,
    matches={
        "coupon_redeemed": "The buyer used the affiliate's coupon code, and nothing else named an affiliate.",
        "revoked_coupon_redeemed": (
            "The buyer used a coupon code that is revoked here, but that the payment provider accepted; "
            "nothing else named an affiliate."
        ),
    },
    skips={"no_coupon": "The buyer used no coupon code."},
)
PLATFORM_LOOKUP = AttributionStep(
    name="platform_lookup",
    look=_match_platform_signup,
    matches={"platform_signup": "The signup record of a connected platform names the affiliate."},
    skips={"platform_unknown": "No connected platform knows who referred the buyer."},
)
