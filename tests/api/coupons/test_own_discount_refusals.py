"""Refusals of codes with a discount of their own: invalid fields, gateways without codes, tenants and plans.

Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from typing import Any

import pytest

from tests.support.coupons import PERCENT_CODE, UNKNOWN_ID

_INVALID_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"discountType": None, "discountValue": None}, "campaignCouponId"),
    ({"discountType": None}, "discountType"),
    ({"discountValue": None}, "discountValue"),
    ({"discountType": "Free"}, "discountType"),
    ({"discountType": 5}, "discountType"),
    ({"discountValue": 0}, "discountValue"),
    ({"discountValue": -1}, "discountValue"),
    ({"discountValue": 101}, "discountValue"),
    ({"discountValue": 1.5}, "discountValue"),
    ({"discountValue": "15"}, "discountValue"),
    ({"discountValue": True}, "discountValue"),
    ({"discountType": "AmountOff", "discountValue": 10**16, "discountCurrency": "USD"}, "discountValue"),
    ({"discountType": "AmountOff"}, "discountCurrency"),
    ({"discountType": "AmountOff", "discountCurrency": "XXX"}, "discountCurrency"),
    ({"discountType": "AmountOff", "discountCurrency": "US"}, "discountCurrency"),
    ({"discountType": "AmountOff", "discountCurrency": 7}, "discountCurrency"),
    ({"expiresAt": "2001-01-01T00:00:00Z"}, "expiresAt"),
    ({"expiresAt": "tomorrow"}, "expiresAt"),
    ({"expiresAt": 7}, "expiresAt"),
    ({"maxRedemptions": 0}, "maxRedemptions"),
    ({"maxRedemptions": 2**31}, "maxRedemptions"),
    ({"maxRedemptions": "7"}, "maxRedemptions"),
    ({"code": "ab"}, "code"),
    ({"code": "spring"}, "code"),
    ({"code": 5}, "code"),
    ({"code": "A" * 201}, "code"),
    ({"campaignCouponId": UNKNOWN_ID}, "discountType"),
    (
        {"campaignCouponId": UNKNOWN_ID, "discountType": None, "discountValue": None, "maxRedemptions": 1},
        "maxRedemptions",
    ),
    ({"external": True}, "discountType"),
    ({"external": "yes"}, "external"),
]


@pytest.mark.parametrize(("fields", "field"), _INVALID_FIELDS)
def test_invalid_field_is_named_and_nothing_is_minted(store, fields, field):
    answer = store.request_code(**fields)

    assert answer.status_code == 400
    assert field in answer.json.get("errors", {answer.json.get("field"): ""})
    assert store.list_codes() == store.stage.codes.rows == []


def test_percent_discount_has_no_currency(store):
    assert store.mint_code(discountCurrency="EUR")["discountCurrency"] is None


@pytest.mark.parametrize("store", ["stripe", "thrivecart"], indirect=True)
def test_gateway_without_own_discount_codes_returns_processor_not_connected(store):
    answer = store.request_code()

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")
    assert "campaignCouponId" in answer.json["message"]
    assert store.list_codes() == []


def test_campaign_coupon_with_only_a_store_returns_processor_not_connected(store):
    path = f"/api/v1/campaigns/{store.brand.programs[0]}/coupons"

    answer = store.brand.post(path, {"name": "A", "discountType": "PercentOff", "discountValue": 5, "duration": "Once"})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_other_tenants_affiliate_returns_404(store, rival):
    rival.program()
    ben = rival.affiliate("ben")

    answer = store.brand.post(f"/api/v1/affiliates/{ben}/coupons", PERCENT_CODE)

    assert answer.status_code == 404
    assert store.stage.codes.rows == []


def test_other_tenants_gateway_mints_nothing(store, rival):
    rival.program()
    ben = rival.affiliate("ben")

    answer = rival.post(f"/api/v1/affiliates/{ben}/coupons", PERCENT_CODE)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_archived_program_mints_nothing(store):
    store.brand.rows("update program set archived_at = now() returning id")

    answer = store.request_code()

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert store.stage.codes.rows == []


_PLANS_WITHOUT_COUPONS = ["Free", "Starter"]


@pytest.mark.parametrize("plan", _PLANS_WITHOUT_COUPONS)
@pytest.mark.parametrize("by", ["key", "person"])
def test_coupon_routes_of_a_brand_need_a_paid_plan(store, plan, by):
    store.brand.set(plan=plan)
    caller = store.brand if by == "key" else store.brand.person("Owner")
    routes = [
        (method, rule.rule)
        for rule in store.brand.app.url_map.iter_rules()
        if "coupon" in rule.rule and rule.rule.startswith("/api/v1/")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]
    assert len(routes) >= 12

    statuses = {}
    for method, rule in routes:
        path = rule
        for name in ("program_id", "coupon_id", "affiliate_id", "code_id"):
            path = path.replace(f"<{name}>", UNKNOWN_ID)
        answer = caller.call(method, path, {} if method in ("POST", "PATCH") else None)
        statuses[method, rule] = (answer.status_code, (answer.json or {}).get("error"))

    if plan == "Free":
        assert set(statuses.values()) == {(402, "plan_tier_required")}, statuses
    else:
        assert 402 not in {status for status, _ in statuses.values()}
