"""Webhook events have the names and keys of the spec."""

import json
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from domain.statuses import ConversionStatus, ConversionType
from domain.webhooks import events

EVENT = UUID("11111111-aaaa-4bbb-8ccc-222222222222")
CONVERSION = UUID("0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11")
PARENT = UUID("5e5e5e5e-6c1b-4c0e-9a57-3f0c5f1f7a11")
AFFILIATE = UUID("7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22")
PROGRAM = UUID("c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33")
OCCURRED_AT = datetime(2026, 5, 10, 12, 30, 15, 123456, tzinfo=UTC)


def test_event_types_match_the_spec() -> None:
    assert events.TYPES == (
        "conversion.created",
        "conversion.refunded",
        "conversion.approved",
        "conversion.denied",
        "conversion.validated",
        "conversion.invalidated",
        "conversion.adjusted",
        "payout.created",
        "payout.paid",
        "payout.failed",
        "affiliate.created",
        "affiliate.approved",
        "affiliate.application_completed",
        "campaign_coupon.created",
        "campaign_coupon.updated",
        "campaign_coupon.deactivated",
        "campaign_coupon.deleted",
        "affiliate_coupon.created",
        "affiliate_coupon.deactivated",
        "affiliate_coupon.revoked",
        "deal.funded",
        "milestone.submitted",
        "milestone.released",
        "dispute.opened",
    )


def test_nine_event_types_are_testable() -> None:
    assert len(events.TESTABLE) == 9
    assert set(events.TESTABLE) < set(events.TYPES)


def test_event_id_is_evt_and_32_hex_digits() -> None:
    assert events.event_id(EVENT) == "evt_11111111aaaa4bbb8ccc222222222222"


def test_known_types_and_the_wildcard_are_valid() -> None:
    assert events.unknown_types(["*", *events.TYPES]) == []


def test_unknown_types_are_returned_in_order() -> None:
    types = ["payout.paid", "campaign_coupon.*", "Payout.paid", "test", "", "conversion.created"]

    assert events.unknown_types(types) == ["campaign_coupon.*", "Payout.paid", "test", ""]


def test_conversion_created_of_an_override_row_has_every_key() -> None:
    payload = events.conversion_created(
        conversion_id=CONVERSION,
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        amount_cents=0,
        currency="USD",
        commission_cents=98,
        status=ConversionStatus.Pending,
        external_event_id="order_1:override:7b1f6a3c52d44e8f8a602c9d4e5b6f22",
        type=ConversionType.OneTime,
        attribution_method="sub_affiliate_override",
        sub_id="may",
        parent_affiliate_conversion_id=PARENT,
    )

    assert payload == {
        "conversionId": "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11",
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "amountCents": 0,
        "currency": "USD",
        "commissionCents": 98,
        "status": "Pending",
        "externalEventId": "order_1:override:7b1f6a3c52d44e8f8a602c9d4e5b6f22",
        "type": "OneTime",
        "attributionMethod": "sub_affiliate_override",
        "subId": "may",
        "parentAffiliateConversionId": "5e5e5e5e-6c1b-4c0e-9a57-3f0c5f1f7a11",
    }
    assert type(payload["status"]) is str


def test_conversion_created_omits_nulls_and_keeps_zeros() -> None:
    payload = events.conversion_created(
        conversion_id=CONVERSION,
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        amount_cents=0,
        currency="USD",
        commission_cents=0,
        status="Pending",
        external_event_id="order_1",
        type="LeadReward",
    )

    assert payload == {
        "conversionId": "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11",
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "amountCents": 0,
        "currency": "USD",
        "commissionCents": 0,
        "status": "Pending",
        "externalEventId": "order_1",
        "type": "LeadReward",
    }


def test_conversion_refunded_contains_a_false_is_full_refund() -> None:
    payload = events.conversion_refunded(
        conversion_id=CONVERSION,
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        refunded_amount_cents=1000,
        commission_reversed_cents=0,
        cumulative_refunded_amount_cents=1500,
        is_full_refund=False,
        currency="USD",
        refunded_at=OCCURRED_AT,
        parent_affiliate_conversion_id=PARENT,
    )

    assert payload == {
        "conversionId": "0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11",
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "refundedAmountCents": 1000,
        "commissionReversedCents": 0,
        "cumulativeRefundedAmountCents": 1500,
        "isFullRefund": False,
        "currency": "USD",
        "refundedAt": "2026-05-10T12:30:15.123Z",
        "parentAffiliateConversionId": "5e5e5e5e-6c1b-4c0e-9a57-3f0c5f1f7a11",
    }


def test_affiliate_created_by_an_application_contains_its_source() -> None:
    payload = events.affiliate_created(
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        email="robin@example.com",
        full_name="Robin Vale",
        status="Pending",
        slug="robin-vale",
        application_answers={"website": "https://example.com", "audience": None},
        source="public_apply",
    )

    assert payload == {
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "email": "robin@example.com",
        "fullName": "Robin Vale",
        "status": "Pending",
        "slug": "robin-vale",
        "applicationAnswers": {"website": "https://example.com", "audience": None},
        "source": "public_apply",
    }


def test_affiliate_created_without_a_form_omits_the_answers() -> None:
    payload = events.affiliate_created(
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        email="robin@example.com",
        full_name=None,
        status="Approved",
        slug="robin-vale",
    )

    assert payload == {
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "email": "robin@example.com",
        "status": "Approved",
        "slug": "robin-vale",
    }


@pytest.mark.parametrize(("auto_approved", "extra"), [(True, {"autoApproved": True}), (False, {})])
def test_affiliate_approved_contains_auto_approved_only_if_true(auto_approved: bool, extra: dict[str, bool]) -> None:
    payload = events.affiliate_approved(
        affiliate_id=AFFILIATE,
        program_id=PROGRAM,
        email="robin@example.com",
        full_name="Robin Vale",
        approved_at=OCCURRED_AT,
        auto_approved=auto_approved,
    )

    assert payload == {
        "affiliateId": "7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22",
        "programId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33",
        "email": "robin@example.com",
        "fullName": "Robin Vale",
        "approvedAt": "2026-05-10T12:30:15.123Z",
        **extra,
    }


def test_envelope_has_the_five_fields_in_order() -> None:
    envelope = events.envelope(
        event_uuid=EVENT, type="payout.paid", created_at=OCCURRED_AT, organization_id=PROGRAM, data={"payoutId": "x"}
    )

    assert json.dumps(envelope) == (
        '{"id": "evt_11111111aaaa4bbb8ccc222222222222", "type": "payout.paid", '
        '"createdAt": "2026-05-10T12:30:15.123Z", '
        '"organizationId": "c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33", "data": {"payoutId": "x"}}'
    )


@pytest.mark.parametrize(
    ("created_at", "expected"),
    [
        (datetime(2026, 5, 10, 12, 0, tzinfo=UTC), "2026-05-10T12:00:00.000Z"),
        (datetime(2026, 5, 10, 1, 0, tzinfo=timezone(timedelta(hours=2))), "2026-05-09T23:00:00.000Z"),
        (datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "2026-12-31T23:59:59.999Z"),
    ],
)
def test_time_is_written_in_utc_with_milliseconds(created_at: datetime, expected: str) -> None:
    envelope = events.envelope(event_uuid=EVENT, type="test", created_at=created_at, organization_id=PROGRAM, data={})

    assert envelope["createdAt"] == expected


def test_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        events.envelope(
            event_uuid=EVENT, type="test", created_at=datetime(2026, 5, 10), organization_id=PROGRAM, data={}
        )


SALE_KEYS = "conversionId affiliateId programId amountCents currency commissionCents status externalEventId type"
REFUND_KEYS = (
    "conversionId affiliateId programId refundedAmountCents commissionReversedCents cumulativeRefundedAmountCents"
    " isFullRefund currency refundedAt attributionMethod"
)
PAYOUT_KEYS = "payoutId affiliateId amountCents currency method"
PERSON_KEYS = "affiliateId programId email fullName"


@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        ("conversion.created", f"{SALE_KEYS} attributionMethod couponCode subId"),
        ("conversion.refunded", REFUND_KEYS),
        ("affiliate.created", f"{PERSON_KEYS} status slug applicationAnswers source"),
        ("affiliate.approved", f"{PERSON_KEYS} approvedAt applicationAnswers"),
        ("payout.created", f"{PAYOUT_KEYS} status lineItemConversionIds periodStart periodEnd"),
        (
            "payout.paid",
            f"{PAYOUT_KEYS} paidAt processorTransferId walletBatchId walletTransactionId gpOutboundPaymentId"
            " externalTransactionId",
        ),
        ("payout.failed", f"{PAYOUT_KEYS} failureReason failedAt"),
        (
            "campaign_coupon.created",
            "campaignCouponId programId name discountType discountValue duration selfMintMode grantedAffiliateCount"
            " createdAt",
        ),
        ("affiliate_coupon.created", "affiliateCouponId campaignCouponId affiliateId programId code createdAt"),
        ("test", "message"),
    ],
)
def test_sample_has_the_keys_of_a_real_payload(type_: str, keys: str) -> None:
    assert list(events.sample(type_)) == keys.split()


def test_every_testable_event_has_a_json_sample() -> None:
    for type_ in (*events.TESTABLE, "test"):
        assert json.loads(json.dumps(events.sample(type_))) == events.sample(type_)


@pytest.mark.parametrize("type_", ["conversion.denied", "deal.funded", "*", "nope"])
def test_other_types_have_no_sample(type_: str) -> None:
    with pytest.raises(ValueError, match="no sample"):
        events.sample(type_)


def test_mutated_sample_does_not_change_the_next() -> None:
    events.sample("payout.created")["lineItemConversionIds"].append("x")  # type: ignore[attr-defined]

    assert events.sample("payout.created")["lineItemConversionIds"] == ["0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11"]
