"""Step 6: who brought the buyer according to a connected newsletter or CRM platform.

Source: tracking spec, section 8; "Attribution method taxonomy" (Platform match).
"""

from domain.attribution.facts import Facts
from domain.attribution.outcome import Matched, Outcome, Skipped

NAME = "platform_lookup"
MATCH = "platform_signup"
MATCHES = (MATCH,)
SENTENCES = {
    MATCH: "A connected platform's own signup record names the affiliate.",
    "platform_unknown": "No connected platform says who brought the buyer.",
}


def look(facts: Facts) -> Outcome:
    """Match the affiliate of a platform's signup record. The buyer may be the affiliate here."""
    if facts.signup is None:
        return Skipped("platform_unknown")
    return Matched(MATCH, facts.signup.affiliate, f"crm_lookup:{facts.signup.platform}")
