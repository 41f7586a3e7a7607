"""The steps of setting up a brand in the API."""

from marshmallow import fields

from domain.organization.onboarding import StepKey
from schemas.base import Instant, Wire, one_of


class OnboardingStep(Wire):
    """A step of setting up: whether it is done, since when (null if unknown), and the page where it is done."""

    key = one_of(tuple(StepKey))
    is_done = fields.Boolean()
    done_at = Instant(allow_none=True)
    url = fields.String()


class OnboardingFactsRecord(Wire):
    """The facts that the steps are checked by; a missing one is null."""

    name = fields.String()
    home_currency = fields.String()
    program_id = fields.UUID(allow_none=True)
    gateway = fields.String(allow_none=True)
    gateway_label = fields.String(allow_none=True)
    last_click_at = Instant(allow_none=True)
    last_sale_at = Instant(allow_none=True)
    is_last_sale_test = fields.Boolean(allow_none=True)
    tag_seen_at = Instant(allow_none=True)
    tag_origin = fields.String(allow_none=True)
    payouts_blocked_message = fields.String(allow_none=True)


class OnboardingRecord(Wire):
    """The steps of setting up a brand, in order, each checked by facts."""

    is_done = fields.Boolean()
    steps = fields.List(fields.Nested(OnboardingStep))
    facts = fields.Nested(OnboardingFactsRecord)
