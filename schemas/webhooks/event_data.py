"""The `data` of each webhook event, described for receivers. `domain.webhooks.events` serializes them.

Source: tracking spec, section 6 "Event types and payloads". A field that has no value is left out of an event.
"""

from marshmallow import fields

from domain import statuses
from domain.payouts.states import PayoutStatus
from domain.payouts.transfers import MANUAL, Method
from schemas.base import MAY_LACK, Amount, Instant, Wire, one_of
from schemas.payouts.payout import day


class _Money(Wire):
    amount_cents = fields.Integer()
    currency = fields.String()


class _OfConversion(Wire):
    conversion_id = fields.UUID()
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    currency = fields.String()
    attribution_method = fields.String(metadata=MAY_LACK)


class ConversionCreatedData(_OfConversion, _Money):
    """A new conversion: a sale, a paid click or lead, or the override of a recruiter."""

    commission_cents = fields.Integer()
    status = one_of(statuses.ConversionStatus)
    external_event_id = fields.String(metadata=MAY_LACK)
    type = one_of(statuses.ConversionType)
    coupon_code = fields.String(metadata=MAY_LACK)
    sub_id = fields.String(metadata=MAY_LACK)
    parent_affiliate_conversion_id = fields.UUID(metadata=MAY_LACK)


class ConversionRefundedData(_OfConversion):
    """A reversal of commission: this refund's amounts, and the total of all refunds."""

    refunded_amount_cents = fields.Integer()
    commission_reversed_cents = fields.Integer()
    cumulative_refunded_amount_cents = fields.Integer()
    is_full_refund = fields.Boolean()
    refunded_at = Instant()
    parent_affiliate_conversion_id = fields.UUID(metadata=MAY_LACK)


class ConversionApprovedData(Wire):
    """The approved conversion."""

    conversion_id = fields.UUID()


class ConversionReviewedData(_OfConversion, _Money):
    """A denied, invalidated or validated conversion, with its previous status."""

    commission_cents = fields.Integer()
    status = one_of(statuses.ConversionStatus)
    previous_status = one_of(statuses.ConversionStatus)
    reason = fields.String(metadata=MAY_LACK)
    parent_affiliate_conversion_id = fields.UUID(metadata=MAY_LACK)


class ConversionAdjustedData(_OfConversion, _Money):
    """A conversion with a changed amount or commission, before and after, net of refunds."""

    previous_amount_cents = fields.Integer()
    commission_cents = fields.Integer()
    previous_commission_cents = fields.Integer()
    status = one_of(statuses.ConversionStatus)
    previous_status = one_of(statuses.ConversionStatus)
    reason = fields.String(metadata=MAY_LACK)
    parent_affiliate_conversion_id = fields.UUID(metadata=MAY_LACK)


class _OfPayout(_Money):
    payout_id = fields.UUID()
    affiliate_id = fields.UUID()
    method = one_of((*Method, MANUAL))


class PayoutCreatedData(_OfPayout):
    """A payout of a run: once per recipient and run, and again when one is retried."""

    status = fields.Constant(PayoutStatus.Pending)
    line_item_conversion_ids = fields.List(fields.UUID())
    period_start = day()
    period_end = day()


class PayoutPaidData(_OfPayout):
    """A paid payout, with its rail's references of the payment; those of other rails are missing."""

    paid_at = Instant()
    processor_transfer_id = fields.String(metadata=MAY_LACK)
    wallet_batch_id = fields.String(metadata=MAY_LACK)
    wallet_transaction_id = fields.String(metadata=MAY_LACK)
    gp_outbound_payment_id = fields.String(metadata=MAY_LACK)
    external_transaction_id = fields.String(metadata=MAY_LACK)


class PayoutFailedData(_OfPayout):
    """A failed payout with its reason."""

    failure_reason = fields.String()
    failed_at = Instant()


class _Answers(Wire):
    application_answers = fields.Dict(keys=fields.String(), values=fields.Raw(), metadata=MAY_LACK)


class _OfAffiliate(Wire):
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    email = fields.String()
    full_name = fields.String(metadata=MAY_LACK)


class AffiliateCreatedData(_OfAffiliate, _Answers):
    """A new affiliate who applied or was added."""

    status = one_of(statuses.AffiliateStatus)
    slug = fields.String()
    source = fields.String(metadata=MAY_LACK)


class AffiliateApprovedData(_OfAffiliate, _Answers):
    """An approved affiliate, with the answers stored at that time."""

    approved_at = Instant()
    auto_approved = fields.Boolean(metadata=MAY_LACK)


class AffiliateApplicationCompletedData(_OfAffiliate, _Answers):
    """An applicant who submitted the second step of a form; sent for every submission."""

    status = one_of(statuses.AffiliateStatus)


class _OfCampaignCoupon(Wire):
    campaign_coupon_id = fields.UUID()
    program_id = fields.UUID()


class CampaignCouponCreatedData(_OfCampaignCoupon):
    """A campaign's coupon, created together with the processor's."""

    name = fields.String()
    discount_type = fields.String()
    discount_value = Amount()
    duration = fields.String()
    self_mint_mode = fields.String()
    granted_affiliate_count = fields.Integer()
    created_at = Instant()
    discount_currency = fields.String(metadata=MAY_LACK)


class CampaignCouponUpdatedData(_OfCampaignCoupon):
    """The changeable fields of a campaign's coupon; the discount is not among them."""

    name = fields.String()
    allow_affiliate_self_mint = fields.Boolean()
    overrides_click_attribution = fields.Boolean()
    self_mint_mode = fields.String()
    granted_affiliate_count = fields.Integer()
    updated_at = Instant()


class CampaignCouponDeactivatedData(_OfCampaignCoupon):
    """An archived campaign coupon, with the number of its ended codes."""

    archived_at = Instant()
    deactivated_child_count = fields.Integer()


class CampaignCouponDeletedData(_OfCampaignCoupon):
    """A deleted campaign coupon."""


class _OfAffiliateCoupon(Wire):
    affiliate_coupon_id = fields.UUID()
    campaign_coupon_id = fields.UUID(metadata=MAY_LACK)
    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    code = fields.String()


class AffiliateCouponCreatedData(_OfAffiliateCoupon):
    """A code, created by the brand or by the affiliate."""

    created_at = Instant()
    source = fields.String(metadata=MAY_LACK)


class AffiliateCouponDeactivatedData(_OfAffiliateCoupon):
    """A code that the brand revoked."""

    revoked_at = Instant()


class AffiliateCouponRevokedData(_OfAffiliateCoupon):
    """A code that its affiliate deleted."""

    revoked_at = Instant()
    source = fields.Constant("self_deleted")


class _OfMilestone(Wire):
    deal_id = fields.UUID()
    milestone_id = fields.UUID()
    seq = fields.Integer()


class DealFundedData(_OfMilestone):
    """A milestone of a deal whose money is in escrow."""

    title = fields.String()
    amount_cents = fields.Integer()
    take_cents = fields.Integer()
    total_brand_charge = fields.Integer()
    funding_charge_id = fields.String()
    deal_status = fields.String()


class MilestoneSubmittedData(_OfMilestone):
    """A milestone that the creator submitted."""

    submission_urls = fields.List(fields.String())
    auto_release_at = Instant()


class MilestoneReleasedData(_OfMilestone):
    """A milestone that was paid."""

    gross_cents = fields.Integer()
    net_cents = fields.Integer()
    payout_id = fields.UUID()
    deal_status = fields.String()


class DisputeOpenedData(_OfMilestone):
    """A dispute opened by either side."""

    opened_by = fields.String()
    reason = fields.String()
    proposed_resolution = fields.String()


#: The schema of each type's data. `events.TYPES` has the order.
BY_TYPE: dict[str, type[Wire]] = {
    "conversion.created": ConversionCreatedData,
    "conversion.refunded": ConversionRefundedData,
    "conversion.approved": ConversionApprovedData,
    "conversion.denied": ConversionReviewedData,
    "conversion.validated": ConversionReviewedData,
    "conversion.invalidated": ConversionReviewedData,
    "conversion.adjusted": ConversionAdjustedData,
    "payout.created": PayoutCreatedData,
    "payout.paid": PayoutPaidData,
    "payout.failed": PayoutFailedData,
    "affiliate.created": AffiliateCreatedData,
    "affiliate.approved": AffiliateApprovedData,
    "affiliate.application_completed": AffiliateApplicationCompletedData,
    "campaign_coupon.created": CampaignCouponCreatedData,
    "campaign_coupon.updated": CampaignCouponUpdatedData,
    "campaign_coupon.deactivated": CampaignCouponDeactivatedData,
    "campaign_coupon.deleted": CampaignCouponDeletedData,
    "affiliate_coupon.created": AffiliateCouponCreatedData,
    "affiliate_coupon.deactivated": AffiliateCouponDeactivatedData,
    "affiliate_coupon.revoked": AffiliateCouponRevokedData,
    "deal.funded": DealFundedData,
    "milestone.submitted": MilestoneSubmittedData,
    "milestone.released": MilestoneReleasedData,
    "dispute.opened": DisputeOpenedData,
}
