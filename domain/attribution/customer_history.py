"""Step 3: the affiliate of the customer's earlier payments.

Source: tracking spec, section 8; "Attribution method taxonomy" (Customer match).
"""

from domain.attribution import beside_coupon
from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "customer_history"
MATCH = "customer_known"
MATCHES = (MATCH,)
SENTENCES = {
    MATCH: "An earlier payment of the same customer was credited to the affiliate.",
    "customer_unknown": "No earlier payment of this customer was credited to anybody.",
}


def look(facts: Facts) -> Outcome:
    """Match the affiliate of an earlier conversion."""
    if facts.history is None:
        return Skipped("customer_unknown")
    known = facts.history.affiliate
    return Matched(MATCH, known, beside_coupon.method(facts, known, facts.history.method))
