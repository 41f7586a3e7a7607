"""In which order a signed request is checked, gateways and limits (tracking spec, sections 4, 7 and 8).

Size (413), key and signature (401), rate (429), plan (402), gateway (409), body (400): every neighbouring pair is
shown by a request that is wrong in both ways.
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
def scarce(app, monkeypatch):
    """Let one signed request per minute and address through, counted on the real server."""
    limiter = limits.Limiter(settings.current().servers.redis_url, settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)


def _free(app, **operator_settings):
    brand = Brand.create(app, plan="Free")
    if operator_settings:
        brand.set(**operator_settings)
    return brand


def _use_up(app):
    other = Brand.create(app)
    assert other.sale().status_code == 400
    assert other.sale().status_code == 429


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL, "/api/v1/tracking/refund"])
def test_a_large_body_is_refused_before_anyone_is_asked_who_they_are(app, url):
    answer = app.test_client().post(url, data=LARGE)

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
    assert sorted(answer.json) == ["error", "message"]


def test_a_large_body_is_refused_before_it_counts(app, scarce):
    _use_up(app)

    assert Brand.create(app).post_signed(SALE_URL, LARGE).status_code == 413


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL])
def test_a_caller_without_a_signature_is_not_told_about_limits(app, scarce, brand, url):
    _use_up(app)

    answer = brand.post(url, {})

    assert (answer.status_code, answer.data) == (401, b"")


@pytest.mark.parametrize("url", [SALE_URL, REFUND_URL])
def test_the_limit_comes_before_the_plan(app, scarce, url):
    _use_up(app)

    answer = _free(app).post_signed(url, {})

    assert (answer.status_code, answer.data) == (429, b"")


def test_the_plan_comes_before_the_gateway(app):
    answer = _free(app, gateways="stripe").sale()

    assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")


def test_the_plan_comes_before_the_body(app):
    assert _free(app).post_signed(SALE_URL, b"nonsense").status_code == 402
    assert _free(app).post_signed(REFUND_URL, b"nonsense").status_code == 402


@pytest.mark.parametrize("body", [b"nonsense", {}, {"externalEventId": "a", "affiliateSlug": "b", "amountCents": "c"}])
def test_the_gateway_comes_before_the_body(brand, body):
    brand.set(gateways="paddle")

    answer = brand.post_signed(SALE_URL, body)

    assert (answer.status_code, answer.json["error"]) == (409, "paddle_connect_active")


def test_the_gateway_comes_before_the_memory_of_a_sale(brand):
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
def test_a_connected_gateway_keeps_signed_sales_out(brand, drain, name):
    brand.program()
    brand.affiliate("ben")
    brand.set(gateways=name)

    refused = brand.sale(externalEventId="order-a")
    brand.set(gateways="")
    accepted = brand.sale(externalEventId="order-a")

    assert refused.status_code == 409
    assert sorted(refused.json) == ["error", "message"]
    assert refused.json["error"] == f"{name}_connect_active"
    assert name in refused.json["message"]
    assert "conversionId" in accepted.json


def test_a_connected_gateway_of_another_organization_keeps_nothing_out(brand, rival):
    rival.set(gateways="stripe")

    assert brand.sale().json["error"] == "affiliate_not_found"


def test_a_connected_gateway_does_not_stand_in_the_way_of_refunds(brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a")
    brand.set(gateways="shopify")

    assert post_refund(brand, "order-a").status_code == 200


def test_beyond_the_limit_the_answer_is_empty_and_nothing_happens(brand, scarce):
    brand.program()
    brand.affiliate("ben")

    first, second = brand.sale(), brand.sale()

    assert "conversionId" in first.json
    assert (second.status_code, second.data) == (429, b"")
    assert brand.rows("select count(*) from sale") == [(1,)]


def test_sales_and_refunds_share_one_limit_per_address(brand, rival, scarce):
    assert post_refund(brand, "nothing").status_code == 404

    assert brand.sale().status_code == 429
    assert rival.sale().status_code == 429
    assert post_refund(brand, "nothing").status_code == 429


def test_another_address_has_a_limit_of_its_own(brand, scarce):
    raw = b'{"externalEventId": "order-a"}'
    headers = {"Authorization": f"Bearer {brand.api_key}", "X-Service-Signature": brand.signature(raw)}

    def from_address(address):
        client = brand.app.test_client()
        return client.post(REFUND_URL, data=raw, headers=headers, environ_base={"REMOTE_ADDR": address}).status_code

    assert [from_address(f"192.0.2.{last}") for last in (1, 1, 2, 2)] == [404, 429, 404, 429]


@pytest.mark.parametrize("header", ["X_Forwarded_For", "X_Real_Ip", "Forwarded", "True_Client_Ip"])
def test_a_made_up_address_is_no_way_around_the_limit(brand, scarce, header):
    assert post_refund(brand, "nothing", **{header: "192.0.2.1"}).status_code == 404
    assert post_refund(brand, "nothing", **{header: "192.0.2.2"}).status_code == 429


def test_a_limited_request_may_be_retried_under_its_idempotency_key(app, brand, scarce, monkeypatch):
    brand.program()
    brand.affiliate("ben")
    _use_up(app)

    limited = brand.post_signed(
        SALE_URL, b'{"externalEventId": "a", "affiliateSlug": "ben", "amountCents": 1}', Idempotency_Key="k"
    )
    usual = limits.Limiter(settings.current().servers.redis_url, settings.current().web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", usual)
    retried = brand.post_signed(
        SALE_URL, b'{"externalEventId": "a", "affiliateSlug": "ben", "amountCents": 1}', Idempotency_Key="k"
    )

    assert limited.status_code == 429
    assert "conversionId" in retried.json
    assert "Idempotency-Replayed" not in retried.headers


def test_sales_are_let_through_while_the_counters_are_away(app, brand, monkeypatch):
    brand.program()
    brand.affiliate("ben")
    limiter = limits.Limiter("redis://127.0.0.1:9/0", settings.read(ENVIRONMENT).web.limits_per_min)
    monkeypatch.setitem(app.extensions, "limiter", limiter)

    assert [brand.sale().status_code for _ in range(3)] == [200, 200, 200]
