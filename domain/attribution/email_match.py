"""Step 5: whose checkout door the buyer's e-mail was given at, else the affiliate of the newest lead that has it.

A fallback: what the payment carries wins.
Source: tracking spec, section 8 "Lead attribution order" and "Lead email match window"; "Attribution method taxonomy"
(Checkout door).
"""

from domain import leads
from domain.attribution.facts import CHECKOUT_DOOR, Facts, NamedAffiliate
from domain.attribution.outcome import Matched, Outcome, Skipped
from domain.gateways.names import Gateway

NAME = "email_match"
METHOD = "email_lead_match"
MATCH, MATCH_DOOR = "lead_matched", "door_matched"
MATCHES = (MATCH, MATCH_DOOR)
SENTENCES = {
    MATCH: "The buyer signed up with this e-mail through the affiliate less than 90 days before the payment.",
    MATCH_DOOR: "The buyer gave this e-mail at the affiliate's checkout door within the campaign's cookie window.",
    "no_buyer_email": "The payment names no e-mail of the buyer.",
    "no_lead": "No lead with the buyer's e-mail was recorded.",
    "lead_too_old": "The lead with the buyer's e-mail is 90 days old or older.",
    "lead_after_payment": "The buyer had paid before the lead with this e-mail was recorded; it credits nobody.",
    "own_email": "The buyer's e-mail is the affiliate's own; leads never match their own affiliate.",
    "own_email_at_door": "The e-mail that was given at the checkout door is the affiliate's own; no lead has it.",
    "lead_of_the_same_affiliate": (
        "The affiliate was credited by an earlier step; their lead with the buyer's e-mail counts as converted."
    ),
    "lead_of_another_affiliate": (
        "A lead with the buyer's e-mail belongs to another affiliate; an earlier step wins over it, and it stays open."
    ),
}

#: Connections that go on crediting affiliates who buy for themselves.
CREDITS_OWN_EMAIL = (Gateway.Stripe,)


def look(facts: Facts) -> Outcome:
    """Match the affiliate of the door that the buyer came through, else of the buyer's lead."""
    if facts.buyer_email is None or facts.door is None:
        return _match_lead(facts)
    if not _is_own(facts, facts.door):
        return Matched(MATCH_DOOR, facts.door, CHECKOUT_DOOR)
    return Skipped("own_email_at_door", facts.door.id) if facts.lead is None else _match_lead(facts)


def _match_lead(facts: Facts) -> Outcome:
    """Match the affiliate of the buyer's lead, unless the buyer had paid before it was made."""
    outcome = look_at_lead(facts)
    if isinstance(outcome, Matched) and facts.lead is not None and facts.lead.is_after_payment:
        return Skipped("lead_after_payment", outcome.affiliate.id)
    return outcome


def look_at_lead(facts: Facts) -> Outcome:
    """Return whose lead the buyer is, and whether it could be of this payment."""
    if facts.buyer_email is None:
        return Skipped("no_buyer_email")
    lead = facts.lead
    if lead is None or not leads.is_before(occurred_at=lead.occurred_at, paid_at=facts.paid_at):
        return Skipped("no_lead")
    if facts.paid_at - lead.occurred_at >= leads.WINDOW:
        return Skipped("lead_too_old", lead.affiliate.id)
    if _is_own(facts, lead.affiliate):
        return Skipped("own_email", lead.affiliate.id)
    return Matched(MATCH, lead.affiliate, METHOD)


def look_after(facts: Facts, winner: NamedAffiliate) -> Skipped | None:
    """Return what the lead means once another step has credited somebody; None when there is no lead."""
    if facts.lead is None:
        return None
    found = look_at_lead(facts)
    if isinstance(found, Skipped):
        return found
    is_the_same = found.affiliate.id == winner.id
    return Skipped("lead_of_the_same_affiliate" if is_the_same else "lead_of_another_affiliate", found.affiliate.id)


def _is_own(facts: Facts, named: NamedAffiliate) -> bool:
    return facts.buyer_email == named.email and facts.gateway not in CREDITS_OWN_EMAIL
