"""Deals in dispute, as operators see and settle them. Amounts are minor units of the deal's currency."""

from marshmallow import fields

from domain.deals.states import DealStatus, Side
from domain.payouts.states import AttemptState, PayoutStatus
from schemas.base import Instant, Wire, one_of
from schemas.conversions.sale import Cents
from schemas.deals.deal import BrandMilestoneRecord
from schemas.operator.queues import WhyBody


class DisputeRecord(Wire):
    """A milestone that waits for a settlement, with the parties of its deal."""

    deal_id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    deal = fields.String()
    seq = fields.Integer()
    title = fields.String()
    currency = fields.String()
    amount_cents = fields.Integer()
    opened_by = one_of(Side)
    dispute_reason = fields.String()
    disputed_at = Instant()


class DisputedMilestoneRecord(BrandMilestoneRecord):
    """A milestone as both sides see it, and when it was settled."""

    settled_at = Instant(allow_none=True)


class FundingRequestRecord(Wire):
    """A call to the funding source of a deal and its answer: a charge, or a refund of a milestone."""

    id = fields.UUID()
    milestone_id = fields.UUID(allow_none=True)
    kind = fields.String()
    number = fields.Integer()
    key = fields.String()
    amount_cents = fields.Integer()
    state = one_of(AttemptState)
    reference = fields.String(allow_none=True)
    detail = fields.String(allow_none=True)
    created_at = Instant()


class DealReleaseRecord(Wire):
    """A payout of a milestone, in US cents, released or not."""

    id = fields.UUID()
    seq = fields.Integer()
    status = one_of(PayoutStatus)
    amount_cents = fields.Integer()
    voided_at = Instant(allow_none=True)


class WholeDealRecord(Wire):
    """A deal with both parties and all details."""

    wire_name = "DealWhole"

    id = fields.UUID()
    organization_id = fields.UUID()
    organization = fields.String()
    affiliate_id = fields.UUID()
    affiliate_email = fields.String()
    title = fields.String()
    currency = fields.String()
    status = one_of(DealStatus)
    charged_cents = fields.Integer()
    take_cents = fields.Integer()
    escrow_cents = fields.Integer()
    paid_cents = fields.Integer()
    returned_cents = fields.Integer()
    created_at = Instant()
    milestones = fields.List(fields.Nested(DisputedMilestoneRecord))
    payouts = fields.List(fields.Nested(DealReleaseRecord))
    requests = fields.List(fields.Nested(FundingRequestRecord))


class SettlementBody(WhyBody):
    """The settlement of a dispute: the affiliate's part of the milestone. The rest goes back to the brand."""

    to_affiliate_cents = Cents(strict=True, required=True)
