"""Step 1: a redeemed code whose family wins over every click.

Source: tracking spec, section 8; "Coupon codes", rule 1 of a redeemed code.
"""

from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "coupon_override"
MATCH, MATCH_REVOKED = "coupon_overrides", "revoked_coupon_overrides"
MATCHES = (MATCH, MATCH_REVOKED)
SENTENCES = {
    MATCH: "The buyer redeemed a code that credits its owner whatever else the payment carries.",
    MATCH_REVOKED: (
        "The buyer redeemed a code that is revoked here, but that the gateway took; "
        "it credits its owner whatever else the payment carries."
    ),
    "no_coupon": "The buyer redeemed no code.",
    "coupon_does_not_override": "The buyer redeemed a code, and codes of its family do not win over other referrals.",
}


def look(facts: Facts) -> Outcome:
    """Match the owner of a code that overrides."""
    if facts.coupon is None:
        return Skipped("no_coupon")
    if not facts.coupon.overrides:
        return Skipped("coupon_does_not_override", facts.coupon.owner.id)
    match = MATCH_REVOKED if facts.coupon.is_revoked else MATCH
    return Matched(match, facts.coupon.owner, facts.coupon.method)
