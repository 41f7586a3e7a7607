"""Organizations, their mail and their connections for operators, in the API."""

from marshmallow import fields

from domain.organization import plans
from schemas.base import Instant, Wire, bearer_secret, one_of, text
from schemas.collection_fields import Entries
from schemas.operator.queues import WhyBody
from schemas.organization.billing import PlanLimits
from schemas.paging import PageQuery, QueryFlag

_STATUSES = ("Queued", "Sent", "Kept", "Failed")
_MAX_Q_CHARS = 200
_MAX_SETTING_CHARS = 64
_MAX_VALUE_CHARS = 20_000
_MAX_SETTINGS = 50


class TenantsQuery(PageQuery):
    """The filter of organizations: `q` is a part of the name, or the id."""

    q = text(longest=_MAX_Q_CHARS, load_default=None)


class TenantRecord(Wire):
    """An organization with its risk facts for operators."""

    id = fields.UUID()
    name = fields.String()
    plan_tier = one_of(plans.Tier)
    subscription_status = one_of(plans.SubscriptionStatus)
    trial_ends_at = Instant(allow_none=True)
    home_currency = fields.String()
    affiliates = fields.Integer()
    fraud_score = fields.Integer()
    verification_state = fields.String()
    funding_frozen = fields.Boolean()
    payouts_need_review = fields.Boolean()
    payout_hold_days = fields.Integer()
    created_at = Instant()


class WholeTenantRecord(Wire):
    """An organization with every operator setting as text, and its usage of the plan."""

    wire_name = "TenantWhole"

    id = fields.UUID()
    name = fields.String()
    home_currency = fields.String()
    created_at = Instant()
    settings = fields.Dict(keys=fields.String(), values=fields.String())
    limits = fields.Nested(PlanLimits)


class TenantChanges(WhyBody):
    """Settings by name, each as text; `none` removes a limit, host, key, provider or rail."""

    settings = Entries(
        most=_MAX_SETTINGS,
        least=1,
        keys=text(shortest=1, longest=_MAX_SETTING_CHARS),
        values=text(longest=_MAX_VALUE_CHARS),
        required=True,
    )


class MailQuery(PageQuery):
    """The filters of emails."""

    status = one_of(_STATUSES, load_default=None)
    organization_id = fields.UUID(load_default=None)


class LetterRecord(Wire):
    """An email without its body. Kept: no mail server is configured."""

    id = fields.UUID()
    organization_id = fields.UUID()
    kind = fields.String()
    recipient = fields.String()
    subject = fields.String()
    status = one_of(_STATUSES)
    attempts = fields.Integer()
    last_error = fields.String(allow_none=True)
    created_at = Instant()
    sent_at = Instant(allow_none=True)
    has_body = fields.Boolean()


class OpenedLetterRecord(LetterRecord):
    """An email with its text, without the tokens of sign-in links; null once it was dropped."""

    text = bearer_secret(found_at="An operator reads it in the console.", allow_none=True)


class TroublesQuery(Wire):
    """The filter of connections: those with problems, or with false all."""

    troubled = QueryFlag(load_default=True)


class OperatorConnectionRecord(Wire):
    """A connection to a gateway or platform, with its waiting events."""

    id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    kind = one_of(("gateway", "platform"))
    name = fields.String()
    status = fields.String()
    last_error = fields.String(allow_none=True)
    last_checked_at = Instant(allow_none=True)
    waiting = fields.Integer()
    parked = fields.Integer()
    failed = fields.Integer()


class AttentionRecord(Wire):
    """The number of tasks that wait for an operator, by kind."""

    dead_letters = fields.Integer()
    runs_to_review = fields.Integer()
    doubtful_payouts = fields.Integer()
    rail_events = fields.Integer()
    red_organizations = fields.Integer()
    failed_mail = fields.Integer()
    connections = fields.Integer()
    disputes = fields.Integer()
    network_reviews = fields.Integer()
    late_ticks = fields.Integer()
    stale_rates = fields.Integer()
