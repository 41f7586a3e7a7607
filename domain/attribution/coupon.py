"""Step 4: the owner of a redeemed code, when nothing before named anybody.

Source: tracking spec, section 8; "Coupon codes", rule 2 of a redeemed code.
"""

from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "coupon"
MATCH, MATCH_REVOKED = "coupon_redeemed", "revoked_coupon_redeemed"
MATCHES = (MATCH, MATCH_REVOKED)
SENTENCES = {
    MATCH: "The buyer redeemed a code, and nothing else named an affiliate.",
    MATCH_REVOKED: (
        "The buyer redeemed a code that is revoked here, but that the gateway took; nothing else named an affiliate."
    ),
    "no_coupon": "The buyer redeemed no code.",
}


def look(facts: Facts) -> Outcome:
    """Match the owner of a code."""
    if facts.coupon is None:
        return Skipped("no_coupon")
    match = MATCH_REVOKED if facts.coupon.is_revoked else MATCH
    return Matched(match, facts.coupon.owner, facts.coupon.method)
