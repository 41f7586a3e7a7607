"""Signed refunds: access, body and response (tracking spec, sections 2, 4 and 7)."""

import io
import json
import time

import pytest

from tests.support.rows.brands import Brand
from tests.support.rows.refund_requests import post_refund

URL, ALIAS = "/api/tracking/refund", "/api/v1/tracking/refund"


@pytest.fixture
def shop(brand):
    """Return a brand that sold `order-a` for 100 dollars at 20 %."""
    brand.program()
    brand.affiliate("ben")
    assert brand.sale(externalEventId="order-a", amountCents=10_000).status_code == 200
    return brand


def _refund(brand, amount):
    """Refund `order-a` with an amount given as raw JSON and return the response."""
    return brand.post_signed(URL, b'{"externalEventId": "order-a", "refundAmountCents": ' + amount.encode() + b"}")


def _list_refunds(brand):
    return brand.rows("select amount_cents, cumulative_cents, is_full from refund order by cumulative_cents")


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_refund_returns_its_amount_and_the_running_total(shop, url):
    (conversion_id,) = shop.rows("select id::text from sale")[0]

    part = shop.post_signed(url, {"externalEventId": "order-a", "refundAmountCents": 4_000, "reason": "tolerated"})
    rest = shop.post_signed(url, {"externalEventId": "order-a"})

    assert (part.status_code, part.json) == (
        200,
        {
            "ok": True,
            "conversionId": conversion_id,
            "refundedAmountCents": 4_000,
            "cumulativeRefundedAmountCents": 4_000,
            "isFullRefund": False,
        },
    )
    assert (rest.status_code, rest.json) == (
        200,
        {
            "ok": True,
            "conversionId": conversion_id,
            "refundedAmountCents": 6_000,
            "cumulativeRefundedAmountCents": 10_000,
            "isFullRefund": True,
        },
    )


@pytest.mark.parametrize("body", [{}, {"refundAmountCents": None}], ids=["omitted", "null"])
def test_refund_without_an_amount_refunds_the_remainder(shop, body):
    post_refund(shop, "order-a", 1)

    answer = shop.post_signed(URL, {"externalEventId": "order-a"} | body)

    assert answer.json["refundedAmountCents"] == 9_999


def test_body_over_4096_bytes_returns_413(shop):
    raw = json.dumps({"externalEventId": "order-a"}).encode().ljust(4_096)

    assert shop.post_signed(URL, raw).status_code == 200
    for url in (URL, ALIAS):
        answer = shop.post_signed(url, raw + b" ")
        assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
        assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert _list_refunds(shop) == [(10_000, 10_000, True)]


@pytest.mark.parametrize("size", [4_097, 5_000, 1_000_000])
def test_oversized_body_without_content_length_returns_413(shop, size):
    raw = json.dumps({"externalEventId": "order-a"}).encode().ljust(size)
    headers = {"Authorization": f"Bearer {shop.api_key}", "X-Service-Signature": shop.signature(raw)}

    answer = shop.app.test_client().post(
        URL,
        headers=headers,
        input_stream=io.BytesIO(raw),
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
    assert _list_refunds(shop) == []


@pytest.mark.parametrize("body", [{}, {"externalEventId": None}, {"externalEventId": ""}, {"refundAmountCents": -1}])
def test_missing_external_event_id_returns_422(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (422, "external_event_id_required")
    assert sorted(answer.json) == ["doc_url", "error", "field", "message"]


@pytest.mark.parametrize("event", ["order-b", "ORDER-A", "order-a ", "order-a:override:" + "0" * 32, "%", "☕"])
def test_unknown_sale_returns_404(shop, event):
    answer = post_refund(shop, event)

    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")
    assert sorted(answer.json) == ["doc_url", "error", "message"]


def test_other_tenants_sale_returns_the_same_404(shop, rival):
    other_tenants, unknown = post_refund(rival, "order-a"), post_refund(rival, "never-sold")

    assert (other_tenants.status_code, other_tenants.data) == (404, unknown.data)
    assert _list_refunds(shop) == []


def test_shared_external_id_is_refunded_only_in_the_keys_organization(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")
    rival.sale(externalEventId="order-a", amountCents=500)

    assert post_refund(rival, "order-a").json["refundedAmountCents"] == 500
    assert _list_refunds(shop) == []


def test_uncredited_sale_cannot_be_refunded(shop):
    shop.affiliate("zoe", status="Paused")
    shop.sale(externalEventId="order-z", affiliateSlug="zoe")

    assert post_refund(shop, "order-z").json["error"] == "conversion_not_found"


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        ("0", "refund_amount_invalid"),
        ("-1", "refund_amount_invalid"),
        ("-1" + "0" * 30, "refund_amount_invalid"),
        ("10001", "amount_exceeds_original"),
        ("1000000000001", "amount_exceeds_original"),
        ("18446744073709551616", "amount_exceeds_original"),
        ("1" + "0" * 30, "amount_exceeds_original"),
    ],
)
def test_out_of_range_amount_is_refused_and_not_clamped(shop, amount, code):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.json["error"]) == (422, code)
    assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert _list_refunds(shop) == []


def test_amount_above_the_remainder_is_refused_and_the_remainder_accepted(shop):
    post_refund(shop, "order-a", 9_999)

    assert post_refund(shop, "order-a", 2).json["error"] == "amount_exceeds_original"
    assert post_refund(shop, "order-a", 1).json["isFullRefund"] is True
    assert _list_refunds(shop) == [(9_999, 9_999, False), (1, 10_000, True)]


@pytest.mark.parametrize("amount", [None, 1, 10_000, 10**15])
def test_refund_of_a_fully_refunded_sale_is_refused(shop, amount):
    post_refund(shop, "order-a")

    for _ in range(2):
        answer = post_refund(shop, "order-a", amount)
        assert (answer.status_code, answer.json["error"]) == (422, "already_fully_refunded")
        assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert shop.rows("select sum(amount_cents) from ledger_entry") == [(0,)]
    assert _list_refunds(shop) == [(10_000, 10_000, True)]


@pytest.mark.parametrize("amount", ["1.5", "1.0", '"12"', "true", "[]", "{}"])
def test_non_integer_amount_returns_400(shop, amount):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == ["refundAmountCents"]
    assert _list_refunds(shop) == []


@pytest.mark.parametrize("value", [7, True, ["order-a"], {"a": 1}, "order-a\x00"], ids=repr)
def test_external_event_id_must_be_text_without_nul(shop, value):
    answer = shop.post_signed(URL, {"externalEventId": value})

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert _list_refunds(shop) == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{", b'"order-a"', b'\xef\xbb\xbf{"externalEventId": "order-a"}', b"[" * 4_000]
)
def test_non_object_body_returns_invalid_body(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert sorted(answer.json) == ["doc_url", "error", "message"]


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_replayed_sale_request_is_not_accepted_as_a_refund(shop, url):
    raw = b'{"externalEventId": "order-b", "affiliateSlug": "ben", "amountCents": 10000}'
    signature = shop.signature(raw)
    sale = shop.call("POST", "/api/tracking/s2s", raw, X_Service_Signature=signature)

    answer = shop.call("POST", url, raw, X_Service_Signature=signature)

    assert sale.status_code == 200
    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert _list_refunds(shop) == []
    assert shop.rows("select count(*) from ledger_entry where amount_cents < 0") == [(0,)]
    assert post_refund(shop, "order-b").json["refundedAmountCents"] == 10_000


@pytest.mark.parametrize("amount", ["NaN", "1e400", "-Infinity", "1" * 3_000])
def test_unrepresentable_number_returns_invalid_body(shop, amount):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_legacy_key_header_is_refused(shop, url):
    raw = b'{"externalEventId": "order-a"}'
    headers = {"X-Service-Api-Key": shop.api_key, "X-Service-Signature": shop.signature(raw)}

    answer = shop.app.test_client().post(url, data=raw, headers=headers)

    assert (answer.status_code, answer.data) == (401, b"")
    assert _list_refunds(shop) == []


def test_missing_stale_or_foreign_signature_returns_401(shop, rival):
    raw = b'{"externalEventId": "order-a"}'
    now = int(time.time())

    for signature in ("", "t=1", shop.signature(raw, at=now - 310), shop.signature(raw, at=now + 900)):
        answer = shop.call("POST", URL, raw, X_Service_Signature=signature)
        assert (answer.status_code, answer.data) == (401, b"")
    assert shop.call("POST", URL, raw, X_Service_Signature=rival.signature(raw)).status_code == 401
    assert shop.call("POST", URL, raw + b" ", X_Service_Signature=shop.signature(raw)).status_code == 401
    assert _list_refunds(shop) == []


def test_refund_needs_a_write_key_and_a_plan(app, shop):
    reader = post_refund(shop.other_key(scope="read"), "order-a")
    free = post_refund(Brand.create(app, plan="Free"), "order-a")
    trial = post_refund(Brand.create(app, plan="Free", status="Trialing"), "order-a")

    assert (reader.status_code, reader.json["error"]) == (403, "forbidden")
    assert "read_write" in reader.json["message"]
    assert (free.status_code, sorted(free.json)) == (
        402,
        ["current", "doc_url", "error", "message", "required", "trialing"],
    )
    assert (free.json["error"], free.json["required"]) == ("plan_tier_required", "Starter")
    assert trial.status_code == 404
