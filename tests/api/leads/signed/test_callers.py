"""Who may send a signed lead, and what else is asked of them (tracking spec, section 7)."""

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
def test_without_key_and_signature_it_is_a_bare_401(shop, spoil):
    answer = spoil(shop)

    assert (answer.status_code, answer.data) == (401, b"")
    assert count_rows(shop) == (0, 0)


def test_a_key_that_may_only_read_is_told_which_scope_it_lacks(shop):
    answer = post_signed_lead(shop.other_key(scope="read"))

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


def test_below_starter_a_lead_needs_a_plan(shop):
    shop.set(plan="Free")

    answer = post_signed_lead(shop)

    assert answer.status_code == 402
    assert sorted(answer.json) == ["current", "error", "message", "required", "trialing"]
    assert (answer.json["error"], answer.json["required"]) == ("plan_tier_required", "Starter")


def test_an_organization_on_trial_is_let_in(app):
    trying = Brand.create(app, plan="Free", status="Trialing")
    trying.program()
    trying.affiliate("ben")

    assert post_signed_lead(trying).status_code == 200


@pytest.mark.parametrize("gateway", ["stripe", "gumroad"])
def test_a_connected_gateway_takes_the_leads(shop, gateway):
    shop.set(gateways=gateway)

    answer = post_signed_lead(shop)

    assert (answer.status_code, answer.json["error"]) == (409, f"{gateway}_connect_active")
    assert answer.json["message"]
    assert count_rows(shop) == (0, 0)


def test_a_body_of_a_sale_is_no_lead(shop):
    body = {
        "externalEventId": "order-1",
        "affiliateSlug": "ben",
        "amountCents": 100,
        "customerEmail": "ada@example.com",
    }

    assert read_refusal(shop.post_signed(SIGNED, body))[1] == "email_required"


def test_a_body_that_is_too_large_is_refused(shop):
    assert shop.post_signed(SIGNED, b" " * 70_000).status_code == 413


def test_leads_and_sales_of_one_address_share_a_limit(app):
    item = app.view_functions["leads.record_lead"].operation.guard

    assert (item.bucket, item.audience) == ("s2s", "signed")
