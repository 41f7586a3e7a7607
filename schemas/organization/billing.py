"""The billing state in the API. Source: core spec, "Other resources" (billing state)."""

from marshmallow import fields

from domain.organization import plans
from schemas.base import Instant, Wire, one_of


class PlanShare(Wire):
    """The usage of a limit; `max` null means no limit."""

    current = fields.Integer()
    max = fields.Integer(allow_none=True)


class PlanLimits(Wire):
    """The limits of the plan. Money in minor units of the home currency."""

    affiliates = fields.Nested(PlanShare)
    campaigns = fields.Nested(PlanShare)
    partner_payouts_this_month_cents = fields.Nested(PlanShare)
    team_seats = fields.Nested(PlanShare)


class BillingState(Wire):
    """Plan, subscription, connections and usage."""

    plan_tier = one_of(plans.Tier)
    subscription_status = one_of(plans.SubscriptionStatus)
    billing_provider = fields.String(allow_none=True)
    trial_ends_at = Instant(allow_none=True)
    interval = fields.String(attribute="billing_interval", allow_none=True)
    processor_subscription_id = fields.String(allow_none=True)
    processor_customer_linked = fields.Boolean()
    processor_connect_linked = fields.Boolean()
    processor_connected_via = fields.String(allow_none=True)
    coupons_enabled = fields.Boolean()
    limits = fields.Nested(PlanLimits)
