"""The order in which a signed request is checked, connected gateways and rate limits (tracking spec, 4, 7 and 8).

Size (413), key and signature (401), rate (429), plan (402), gateway (409), body (400): every neighbouring pair is
tested by a request that fails both checks.
"""

import pytest

import settings
from api.access import limits
from tests.support.rows.brands import Brand
from tests.support.rows.refund_requests import post_refund

SALE_URL, REFUND_URL = "/api/tracking/s2s", "/api/tracking/refund"
LARGE = b" " * 70_000
ENVIRONMENT = {"DATABASE_URL": "unused", "SECRET_KEY": "x" * 32, "RATE_LIMITS_PER_MIN": "s2s=1"}


@pytest.fixture
def limit_of_one(app, monkeypatch):
    """Limit signed requests to one per minute and address, counted on the real server."""
    limiter = limits.Limiter(settings.current().servers.redis_url, settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)


def _create_free_brand(app, **operator_settings):
    brand = Brand.create(app, plan="Free")
    if operator_settings:
        brand.set(**operator_settings)
    return brand


def _use_up_limit(app):
    other = Brand.create(app)
    assert other.sale().status_code == 400
    assert other.sale().status_code == 429


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL, "/api/v1/tracking/refund"])
def test_size_is_checked_before_the_key(app, url):
    answer = app.test_client().post(url, data=LARGE)

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
    assert sorted(answer.json) == ["doc_url", "error", "message"]


def test_size_is_checked_before_the_rate_limit(app, limit_of_one):
    _use_up_limit(app)

    assert Brand.create(app).post_signed(SALE_URL, LARGE).status_code == 413


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL])
def test_signature_is_checked_before_the_rate_limit(app, limit_of_one, brand, url):
    _use_up_limit(app)

    answer = brand.post(url, {})

    assert (answer.status_code, answer.data) == (401, b"")


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL])
def test_rate_limit_is_checked_before_the_plan(app, limit_of_one, url):
    _use_up_limit(app)

    answer = _create_free_brand(app).post_signed(url, {})

    assert (answer.status_code, answer.data) == (429, b"")


def test_plan_is_checked_before_the_gateway(app):
    answer = _create_free_brand(app, gateways="stripe").sale()

    assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")


def test_plan_is_checked_before_the_body(app):
    assert _create_free_brand(app).post_signed(SALE_URL, b"nonsense").status_code == 402
    assert _create_free_brand(app).post_signed(REFUND_URL, b"nonsense").status_code == 402


@pytest.mark.parametrize("body", [b"nonsense", {}, {"externalEventId": "a", "affiliateSlug": "b", "amountCents": "c"}])
def test_gateway_is_checked_before_the_body(brand, body):
    brand.set(gateways="paddle")

    answer = brand.post_signed(SALE_URL, body)

    assert (answer.status_code, answer.json["error"]) == (409, "paddle_connect_active")


def test_gateway_is_checked_before_duplicates(brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a")
    brand.set(gateways="wix")

    assert brand.sale(externalEventId="order-a").status_code == 409


@pytest.mark.parametrize(
    "name",
    [
        "stripe",
        "braintree",
        "mollie",
        "shopify",
        "bigcommerce",
        "wix",
        "woocommerce",
        "paddle",
        "chargebee",
        "recurly",
        "maxio",
        "gumroad",
        "lemonsqueezy",
        "thrivecart",
        "paypal",
    ],
)
def test_connected_gateway_refuses_signed_sales(brand, drain, name):
    brand.program()
    brand.affiliate("ben")
    brand.set(gateways=name)

    refused = brand.sale(externalEventId="order-a")
    brand.set(gateways="")
    accepted = brand.sale(externalEventId="order-a")

    assert refused.status_code == 409
    assert sorted(refused.json) == ["doc_url", "error", "message"]
    assert refused.json["error"] == f"{name}_connect_active"
    assert name in refused.json["message"]
    assert "conversionId" in accepted.json


def test_other_tenants_gateway_refuses_nothing(brand, rival):
    rival.set(gateways="stripe")

    assert brand.sale().json["error"] == "affiliate_not_found"


def test_connected_gateway_allows_signed_refunds(brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a")
    brand.set(gateways="shopify")

    assert post_refund(brand, "order-a").status_code == 200


def test_request_over_the_limit_returns_an_empty_429_and_has_no_effect(brand, limit_of_one):
    brand.program()
    brand.affiliate("ben")

    first, second = brand.sale(), brand.sale()

    assert "conversionId" in first.json
    assert (second.status_code, second.data) == (429, b"")
    assert brand.rows("select count(*) from sale") == [(1,)]


def test_sales_and_refunds_share_one_limit_per_address_across_tenants(brand, rival, limit_of_one):
    assert post_refund(brand, "nothing").status_code == 404

    assert brand.sale().status_code == 429
    assert rival.sale().status_code == 429
    assert post_refund(brand, "nothing").status_code == 429


def test_each_address_has_its_own_limit(brand, limit_of_one):
    raw = b'{"externalEventId": "order-a"}'
    headers = {"Authorization": f"Bearer {brand.api_key}", "X-Service-Signature": brand.signature(raw)}

    def post_from(address):
        client = brand.app.test_client()
        return client.post(REFUND_URL, data=raw, headers=headers, environ_base={"REMOTE_ADDR": address}).status_code

    assert [post_from(f"192.0.2.{last}") for last in (1, 1, 2, 2)] == [404, 429, 404, 429]


@pytest.mark.parametrize("header", ["X_Forwarded_For", "X_Real_Ip", "Forwarded", "True_Client_Ip"])
def test_forged_address_header_does_not_evade_the_limit(brand, limit_of_one, header):
    assert post_refund(brand, "nothing", **{header: "192.0.2.1"}).status_code == 404
    assert post_refund(brand, "nothing", **{header: "192.0.2.2"}).status_code == 429


def test_rate_limited_request_can_be_retried_under_its_idempotency_key(app, brand, limit_of_one, monkeypatch):
    brand.program()
    brand.affiliate("ben")
    _use_up_limit(app)

    limited = brand.post_signed(
        SALE_URL, b'{"externalEventId": "a", "affiliateSlug": "ben", "amountCents": 1}', Idempotency_Key="k"
    )
    usual_limiter = limits.Limiter(settings.current().servers.redis_url, settings.current().web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", usual_limiter)
    retried = brand.post_signed(
        SALE_URL, b'{"externalEventId": "a", "affiliateSlug": "ben", "amountCents": 1}', Idempotency_Key="k"
    )

    assert limited.status_code == 429
    assert "conversionId" in retried.json
    assert "Idempotency-Replayed" not in retried.headers


def test_sales_are_accepted_while_the_rate_limit_server_is_down(app, brand, monkeypatch):
    brand.program()
    brand.affiliate("ben")
    limiter = limits.Limiter("redis://127.0.0.1:9/0", settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)

    assert [brand.sale().status_code for _ in range(3)] == [200, 200, 200]
