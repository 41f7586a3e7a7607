"""Step 5: the affiliate at whose checkout door the buyer's email was given, else that of the newest lead with it.

A fallback: anything that the payment itself carries wins.
Source: tracking spec, section 8 "Lead attribution order" and "Lead email match window"; "Attribution method taxonomy"
(Checkout door).
"""

from domain import leads
from domain.attribution.facts import CHECKOUT_DOOR, Facts, NamedAffiliate
from domain.attribution.steps import AttributionStep, Outcome, StepMatch, StepSkip
from domain.gateways.names import Gateway

#: Connections that go on crediting affiliates who buy for themselves.
CREDITS_OWN_EMAIL = (Gateway.Stripe,)


def match_lead(facts: Facts) -> Outcome:
    """Match the affiliate of the buyer's lead if the lead could be of this payment."""
    if facts.buyer_email is None:
        return StepSkip("no_buyer_email")
    lead = facts.lead
    if lead is None or not leads.is_before(occurred_at=lead.occurred_at, paid_at=facts.paid_at):
        return StepSkip("no_lead")
    if facts.paid_at - lead.occurred_at >= leads.WINDOW:
        return StepSkip("lead_too_old", lead.affiliate.id)
    if _is_own(facts, lead.affiliate):
        return StepSkip("own_email", lead.affiliate.id)
    return StepMatch("lead_matched", lead.affiliate, "email_lead_match")


def compare_lead(facts: Facts, winner: NamedAffiliate) -> StepSkip | None:
    """Return how the lead relates to the winner of an earlier step; None when there is no lead."""
    if facts.lead is None:
        return None
    outcome = match_lead(facts)
    if isinstance(outcome, StepSkip):
        return outcome
    is_same = outcome.affiliate.id == winner.id
    return StepSkip("lead_of_the_same_affiliate" if is_same else "lead_of_another_affiliate", outcome.affiliate.id)


def _match_email(facts: Facts) -> Outcome:
    """Match the affiliate of the door that the buyer came through, else of the buyer's lead."""
    if facts.buyer_email is None or facts.door is None:
        return _match_lead_before_payment(facts)
    if not _is_own(facts, facts.door):
        return StepMatch("door_matched", facts.door, CHECKOUT_DOOR)
    return StepSkip("own_email_at_door", facts.door.id) if facts.lead is None else _match_lead_before_payment(facts)


def _match_lead_before_payment(facts: Facts) -> Outcome:
    """Match the affiliate of the buyer's lead, unless the buyer had paid before it was recorded."""
    outcome = match_lead(facts)
    if isinstance(outcome, StepMatch) and facts.lead is not None and facts.lead.is_after_payment:
        return StepSkip("lead_after_payment", outcome.affiliate.id)
    return outcome


def _is_own(facts: Facts, affiliate: NamedAffiliate) -> bool:
    return facts.buyer_email == affiliate.email and facts.gateway not in CREDITS_OWN_EMAIL


EMAIL_MATCH = AttributionStep(
    name="email_match",
    look=_match_email,
    matches={
        "lead_matched": "The buyer signed up through the affiliate with this email, less than 90 days before paying.",
        "door_matched": "The buyer gave this email at the affiliate's checkout door, within the cookie window.",
    },
    skips={
        "no_buyer_email": "The payment names no email of the buyer.",
        "no_lead": "No lead with the buyer's email was recorded.",
        "lead_too_old": "The lead with the buyer's email is 90 days old or older.",
        "lead_after_payment": "The buyer had paid before the lead with this email was recorded; it credits no one.",
        "own_email": "The buyer's email is the affiliate's own; leads never match their own affiliate.",
        "own_email_at_door": "The email given at the checkout door is the affiliate's own; no lead has it.",
        "lead_of_the_same_affiliate": (
            "The affiliate was credited by an earlier step; their lead with the buyer's email counts as converted."
        ),
        "lead_of_another_affiliate": (
            "A lead with the buyer's email belongs to another affiliate; an earlier step wins, and the lead stays open."
        ),
    },
)
