"""Callers that may send a signed lead, and its other preconditions (tracking spec, section 7)."""

from datetime import UTC, datetime

import pytest

from tests.support.rows.brands import Brand
from tests.support.rows.leads import LEAD, SIGNED, count_rows, post_signed_lead, read_refusal


@pytest.mark.parametrize(
    "spoil",
    [
        lambda shop: shop.post(SIGNED, LEAD),
        lambda shop: shop.post_signed(SIGNED, LEAD, X_Service_Signature=shop.signature(LEAD + b" ")),
        lambda shop: shop.post_signed(SIGNED, LEAD, at=int(datetime.now(UTC).timestamp()) - 301),
        lambda shop: shop.post_signed(SIGNED, LEAD, Authorization="Bearer nonsense"),
        lambda shop: shop.person("Owner").post(SIGNED, LEAD, X_Service_Signature=shop.signature(LEAD)),
    ],
    ids=["unsigned", "other bytes", "too old", "no key", "a person"],
)
def test_missing_key_or_signature_returns_401_without_a_body(shop, spoil):
    answer = spoil(shop)

    assert (answer.status_code, answer.data) == (401, b"")
    assert count_rows(shop) == (0, 0)


def test_read_key_gets_the_missing_scope(shop):
    answer = post_signed_lead(shop.other_key(scope="read"))

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


def test_lead_below_starter_returns_402(shop):
    shop.set(plan="Free")

    answer = post_signed_lead(shop)

    assert answer.status_code == 402
    assert sorted(answer.json) == ["current", "doc_url", "error", "message", "required", "trialing"]
    assert (answer.json["error"], answer.json["required"]) == ("plan_tier_required", "Starter")


def test_organization_on_trial_may_send_leads(app):
    brand = Brand.create(app, plan="Free", status="Trialing")
    brand.program()
    brand.affiliate("ben")

    assert post_signed_lead(brand).status_code == 200


@pytest.mark.parametrize("gateway", ["stripe", "gumroad"])
def test_connected_gateway_refuses_signed_leads(shop, gateway):
    shop.set(gateways=gateway)

    answer = post_signed_lead(shop)

    assert (answer.status_code, answer.json["error"]) == (409, f"{gateway}_connect_active")
    assert answer.json["message"]
    assert count_rows(shop) == (0, 0)


def test_sale_body_is_refused_as_a_lead(shop):
    body = {
        "externalEventId": "order-1",
        "affiliateSlug": "ben",
        "amountCents": 100,
        "customerEmail": "ada@example.com",
    }

    assert read_refusal(shop.post_signed(SIGNED, body))[1] == "email_required"


def test_body_over_the_limit_returns_413(shop):
    assert shop.post_signed(SIGNED, b" " * 70_000).status_code == 413


def test_leads_and_sales_share_a_rate_limit(app):
    item = app.view_functions["leads.record_lead"].operation.guard

    assert (item.bucket, item.audience) == ("s2s", "signed")
