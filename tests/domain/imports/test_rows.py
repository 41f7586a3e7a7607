"""Rows of a conversion import. Source: core spec, "Conversions" (conversion import)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from domain.imports import rows

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
PROGRAM, BEN, ANN = UUID(int=1), UUID(int=2), UUID(int=3)


def _build_row(**fields):
    row = {
        "affiliateEmail": "ben@example.com",
        "amountCents": 10_000,
        "commissionCents": 2_000,
        "currency": "USD",
        "occurredAt": "2024-01-31T10:00:00Z",
    } | fields
    return {name: value for name, value in row.items() if value is not ...}


def _read(**fields):
    return rows.parse(_build_row(**fields), now=NOW)


def _identity(affiliate_id=BEN, **fields):
    return rows.identity(_read(**fields), program_id=PROGRAM, affiliate_id=affiliate_id)


def test_row_is_parsed_with_defaults():
    row = _read(affiliateEmail=" BEN@Example.com ", affiliateSlug=" Ben ", currency=" eur ", customerName=" Zoë 李 ")

    assert (row.affiliate_email, row.affiliate_slug, row.customer_name) == ("ben@example.com", "ben", "Zoë 李")
    assert (row.currency, row.is_paid, row.type, row.external_id) == ("EUR", False, "OneTime", None)
    assert row.occurred_at == datetime(2024, 1, 31, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-31", datetime(2024, 1, 31, tzinfo=UTC)),
        ("2024-01-31T23:30:00-02:00", datetime(2024, 2, 1, 1, 30, tzinfo=UTC)),
        ("2024-01-31T10:00:00", datetime(2024, 1, 31, 10, tzinfo=UTC)),
        ("2026-01-31T12:00:00Z", NOW),
    ],
)
def test_time_is_parsed_as_utc(text, expected):
    assert _read(occurredAt=text).occurred_at == expected


@pytest.mark.parametrize("cents", [0, 1, 10**12])
def test_amounts_from_zero_to_a_trillion_are_accepted(cents):
    row = _read(amountCents=cents, commissionCents=cents)

    assert (row.amount_cents, row.commission_cents) == (cents, cents)


_INVALID_CENTS = [None, ..., -1, 10**12 + 1, 10**18, 1e30, 7.0, "7", True, [], {}]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"affiliateEmail": ...}, "affiliate_email_or_slug_required"),
        ({"affiliateEmail": "  ", "affiliateSlug": ""}, "affiliate_email_or_slug_required"),
        ({"affiliateEmail": None, "affiliateSlug": None}, "affiliate_email_or_slug_required"),
        *[({"amountCents": value}, "amount_out_of_range") for value in _INVALID_CENTS],
        *[({"commissionCents": value}, "commission_out_of_range") for value in _INVALID_CENTS],
        *[({"currency": value}, "unsupported_currency") for value in (None, ..., "", "XXX", "dollars", 840, "Ů$D")],
        ({"occurredAt": ...}, "occurred_at_required"),
        ({"occurredAt": None}, "occurred_at_required"),
        *[({"occurredAt": value}, "invalid_occurred_at") for value in (7, "", "yesterday", "2024-02-30", "1706659200")],
        ({"occurredAt": "0001-01-01T00:00:00+14:00"}, "invalid_occurred_at"),
        ({"occurredAt": "2026-01-31T12:00:00.000001Z"}, "occurred_at_in_future"),
        ({"occurredAt": "9999-12-31"}, "occurred_at_in_future"),
        *[({"paid": value}, "invalid_paid") for value in (1, "true", [])],
        *[({"type": value}, "invalid_type") for value in ("Bonus", "onetime", "", 7, [], {})],
        ({"affiliateEmail": 7}, "invalid_affiliate_email"),
        ({"affiliateEmail": "x" * 321}, "invalid_affiliate_email"),
        ({"affiliateSlug": "nul\x00"}, "invalid_affiliate_slug"),
        ({"customerEmail": "nul\x00@example.com"}, "invalid_customer_email"),
        ({"customerName": "x" * 256}, "invalid_customer_name"),
        ({"processorCustomerId": 10**18}, "invalid_processor_customer_id"),
        ({"processorSubscriptionId": {}}, "invalid_processor_subscription_id"),
        ({"externalId": 7}, "invalid_external_id"),
        ({"externalId": "x" * 513}, "invalid_external_id"),
    ],
)
def test_invalid_row_is_refused_with_its_code(fields, code):
    with pytest.raises(rows.BadRow) as refusal:
        _read(**fields)

    assert refusal.value.code == code


@pytest.mark.parametrize("value", [None, 7, "row", [], True])
def test_non_object_row_is_refused(value):
    with pytest.raises(rows.BadRow, match="invalid_row"):
        rows.parse(value, now=NOW)


def test_identity_is_the_external_id_unchanged():
    assert _identity(externalId=" Order 7 ") == " Order 7 "


def test_identity_without_an_external_id_is_derived_from_the_values():
    assert _identity() == _identity(externalId="  ", affiliateSlug="ben") == _identity(paid=True, customerName="Ann")
    others = [
        _identity(ANN),
        _identity(amountCents=1),
        _identity(commissionCents=1),
        _identity(currency="EUR"),
        _identity(occurredAt="2024-02-01"),
        _identity(type="Recurring"),
        _identity(customerEmail="ann@example.com"),
        _identity(processorCustomerId="a"),
        _identity(processorSubscriptionId="a"),
    ]
    assert len({_identity(), *others}) == len(others) + 1
