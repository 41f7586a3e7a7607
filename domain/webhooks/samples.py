"""One realistic `data` object for each event.

SAMPLES are those that the Test action can send, and the generic one; OTHERS are only in the API's description.

Source: tracking spec, section 6 "Events". `events.sample` returns copies.
"""

from collections.abc import Mapping
from types import MappingProxyType

_CONVERSION = "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11"
_AFFILIATE = "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22"
_PROGRAM = "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33"
_PAYOUT = "e95b3c7a-84d6-4f21-9c0e-5a4b3c2d1e44"
_CAMPAIGN_COUPON = "2f6d8b1e-97a3-4c54-8e1f-6b5c4d3e2f55"
_AFFILIATE_COUPON = "a1c3e5b7-d9f0-4826-b4d6-9e8f7a6b5c66"

#: Event type to its sample data. Keys are those of the event's real payload.
SAMPLES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "test": {"message": "This is a test event. Your endpoint is set up."},
        "conversion.created": {
            "conversionId": _CONVERSION,
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "amountCents": 4900,
            "currency": "USD",
            "commissionCents": 980,
            "status": "Pending",
            "externalEventId": "order_10482",
            "type": "OneTime",
            "attributionMethod": "coupon",
            "couponCode": "ROBIN15",
            "subId": "newsletter-may",
        },
        "conversion.refunded": {
            "conversionId": _CONVERSION,
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "refundedAmountCents": 1960,
            "commissionReversedCents": 392,
            "cumulativeRefundedAmountCents": 1960,
            "isFullRefund": False,
            "currency": "USD",
            "refundedAt": "2026-05-18T09:12:44.000Z",
            "attributionMethod": "coupon",
        },
        "affiliate.created": {
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "email": "robin@example.com",
            "fullName": "Robin Vale",
            "status": "Pending",
            "slug": "robin-vale",
            "applicationAnswers": {"website": "https://example.com", "audience": "Home cooks"},
            "source": "public_apply",
        },
        "affiliate.approved": {
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "email": "robin@example.com",
            "fullName": "Robin Vale",
            "approvedAt": "2026-05-04T14:30:00.000Z",
            "applicationAnswers": {"website": "https://example.com", "audience": "Home cooks"},
        },
        "payout.created": {
            "payoutId": _PAYOUT,
            "affiliateId": _AFFILIATE,
            "amountCents": 12840,
            "currency": "USD",
            "method": "ProcessorConnect",
            "status": "Pending",
            "lineItemConversionIds": [_CONVERSION],
            "periodStart": "2026-05-01",
            "periodEnd": "2026-05-31",
        },
        "payout.paid": {
            "payoutId": _PAYOUT,
            "affiliateId": _AFFILIATE,
            "amountCents": 12840,
            "currency": "USD",
            "method": "ProcessorConnect",
            "paidAt": "2026-06-03T08:00:12.000Z",
            # A real payout has only the references of its rail; the sample has all, so that each can be mapped in
            # advance.
            "processorTransferId": "tr_sample_5512",
            "walletBatchId": "batch_sample_5512",
            "walletTransactionId": "wtx_sample_5512",
            "gpOutboundPaymentId": "obp_sample_5512",
            "externalTransactionId": "bank-2026-06-5512",
        },
        "payout.failed": {
            "payoutId": _PAYOUT,
            "affiliateId": _AFFILIATE,
            "amountCents": 12840,
            "currency": "USD",
            "method": "ProcessorConnect",
            "failureReason": "The recipient's account cannot receive transfers.",
            "failedAt": "2026-06-03T08:00:12.000Z",
        },
        "campaign_coupon.created": {
            "campaignCouponId": _CAMPAIGN_COUPON,
            "programId": _PROGRAM,
            "name": "Partner 15 % off",
            "discountType": "PercentOff",
            "discountValue": 15,
            "duration": "Once",
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 3,
            "createdAt": "2026-05-02T10:05:00.000Z",
        },
        "affiliate_coupon.created": {
            "affiliateCouponId": _AFFILIATE_COUPON,
            "campaignCouponId": _CAMPAIGN_COUPON,
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "code": "ROBIN15",
            "createdAt": "2026-05-05T16:20:00.000Z",
        },
    }
)

_REVIEWED: Mapping[str, object] = {
    "conversionId": _CONVERSION,
    "affiliateId": _AFFILIATE,
    "programId": _PROGRAM,
    "amountCents": 4900,
    "currency": "USD",
    "commissionCents": 980,
    "attributionMethod": "coupon",
}
_MILESTONE_OF_DEAL: Mapping[str, object] = {
    "dealId": "b7c1d2e3-0a1b-4c2d-8e3f-4a5b6c7d8e77",
    "milestoneId": "d4e5f6a7-1b2c-4d3e-9f40-5b6c7d8e9f88",
    "seq": 1,
}
_COUPON_OF_AFFILIATE: Mapping[str, object] = {
    "affiliateCouponId": _AFFILIATE_COUPON,
    "campaignCouponId": _CAMPAIGN_COUPON,
    "affiliateId": _AFFILIATE,
    "programId": _PROGRAM,
    "code": "ROBIN15",
}

#: Event type to sample data, for the types without a Test action.
OTHERS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "conversion.approved": {"conversionId": _CONVERSION},
        "conversion.denied": {
            **_REVIEWED,
            "commissionCents": 0,
            "status": "Denied",
            "previousStatus": "Pending",
            "reason": "Ordered for themselves",
        },
        "conversion.validated": {**_REVIEWED, "status": "Pending", "previousStatus": "Invalidated"},
        "conversion.invalidated": {
            **_REVIEWED,
            "status": "Invalidated",
            "previousStatus": "Approved",
            "reason": "Chargeback",
        },
        "conversion.adjusted": {
            **_REVIEWED,
            "previousAmountCents": 5900,
            "previousCommissionCents": 1180,
            "status": "Pending",
            "previousStatus": "Pending",
        },
        "affiliate.application_completed": {
            "affiliateId": _AFFILIATE,
            "programId": _PROGRAM,
            "email": "robin@example.com",
            "fullName": "Robin Vale",
            "status": "Pending",
            "applicationAnswers": {"website": "https://example.com", "audience": "Home cooks"},
        },
        "campaign_coupon.updated": {
            "campaignCouponId": _CAMPAIGN_COUPON,
            "programId": _PROGRAM,
            "name": "Partner 15 % off",
            "allowAffiliateSelfMint": True,
            "overridesClickAttribution": True,
            "selfMintMode": "SpecificAffiliates",
            "grantedAffiliateCount": 4,
            "updatedAt": "2026-05-20T10:05:00.000Z",
        },
        "campaign_coupon.deactivated": {
            "campaignCouponId": _CAMPAIGN_COUPON,
            "programId": _PROGRAM,
            "archivedAt": "2026-06-30T22:00:00.000Z",
            "deactivatedChildCount": 3,
        },
        "campaign_coupon.deleted": {"campaignCouponId": _CAMPAIGN_COUPON, "programId": _PROGRAM},
        "affiliate_coupon.deactivated": {**_COUPON_OF_AFFILIATE, "revokedAt": "2026-06-12T09:00:00.000Z"},
        "affiliate_coupon.revoked": {
            **_COUPON_OF_AFFILIATE,
            "revokedAt": "2026-06-12T09:00:00.000Z",
            "source": "self_deleted",
        },
        "deal.funded": {
            **_MILESTONE_OF_DEAL,
            "title": "First draft",
            "amountCents": 50000,
            "takeCents": 2500,
            "totalBrandCharge": 52500,
            "fundingChargeId": "ch_sample_7741",
            "dealStatus": "Funded",
        },
        "milestone.submitted": {
            **_MILESTONE_OF_DEAL,
            "submissionUrls": ["https://video.example.com/watch/5512"],
            "autoReleaseAt": "2026-06-19T09:00:00.000Z",
        },
        "milestone.released": {
            **_MILESTONE_OF_DEAL,
            "grossCents": 50000,
            "netCents": 50000,
            "payoutId": _PAYOUT,
            "dealStatus": "Completed",
        },
        "dispute.opened": {
            **_MILESTONE_OF_DEAL,
            "openedBy": "brand",
            "reason": "The video does not show the knife.",
            "proposedResolution": "A new take by Friday.",
        },
    }
)
