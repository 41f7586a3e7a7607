"""Step 4: the owner of a redeemed code, when nothing before named anybody.

Source: tracking spec, section 8; "Coupon codes", rule 2 of a redeemed code.
"""

from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "coupon"
MATCH = "coupon_redeemed"
SENTENCES = {
    MATCH: "The buyer redeemed a code, and nothing else named an affiliate.",
    "no_coupon": "The buyer redeemed no code.",
}


def look(facts: Facts) -> Outcome:
    """Match the owner of a code."""
    if facts.coupon is None:
        return Skipped("no_coupon")
    return Matched(MATCH, facts.coupon.owner, facts.coupon.method)
