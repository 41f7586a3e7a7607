"""Step 2: an affiliate whom the payment itself names, in the processor's metadata or in the signed body.

Source: tracking spec, section 8; "Attribution method taxonomy" (Link and Server).
"""

from domain.attribution import beside_coupon
from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "carried_referral"
MATCH = "referral_carried"
MATCHES = (MATCH,)
SENTENCES = {
    MATCH: "The payment itself names the affiliate.",
    "no_referral": "The payment names no affiliate.",
}


def look(facts: Facts) -> Outcome:
    """Match the affiliate that the payment carries."""
    if facts.referral is None:
        return Skipped("no_referral")
    named = facts.referral.affiliate
    return Matched(MATCH, named, beside_coupon.method(facts, named, facts.referral.method))
