"""Signed refunds: who may send one, what it may say, what it answers (tracking spec, sections 2, 4 and 7)."""

import io
import json
import time

import pytest

from tests.support.rows.brands import Brand
from tests.support.rows.refund_requests import post_refund

URL, ALIAS = "/api/tracking/refund", "/api/v1/tracking/refund"


@pytest.fixture
def shop(brand):
    """A brand that sold `order-a` for 100 dollars at 20 %."""
    brand.program()
    brand.affiliate("ben")
    assert brand.sale(externalEventId="order-a", amountCents=10_000).status_code == 200
    return brand


def _refund(brand, amount):
    """A refund of `order-a` whose amount is written as it is given."""
    return brand.post_signed(URL, b'{"externalEventId": "order-a", "refundAmountCents": ' + amount.encode() + b"}")


def _refunds(brand):
    return brand.rows("select amount_cents, cumulative_cents, is_full from refund order by cumulative_cents")


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_a_refund_answers_with_its_own_and_the_running_total(shop, url):
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
def test_without_an_amount_what_remains_is_refunded(shop, body):
    post_refund(shop, "order-a", 1)

    answer = shop.post_signed(URL, {"externalEventId": "order-a"} | body)

    assert answer.json["refundedAmountCents"] == 9_999


def test_a_body_of_4096_bytes_is_read_and_one_more_is_refused(shop):
    raw = json.dumps({"externalEventId": "order-a"}).encode().ljust(4_096)

    assert shop.post_signed(URL, raw).status_code == 200
    for url in (URL, ALIAS):
        answer = shop.post_signed(url, raw + b" ")
        assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
        assert sorted(answer.json) == ["error", "message"]
    assert _refunds(shop) == [(10_000, 10_000, True)]


@pytest.mark.parametrize("size", [4_097, 5_000, 1_000_000])
def test_a_body_that_hides_its_length_is_refused_all_the_same(shop, size):
    raw = json.dumps({"externalEventId": "order-a"}).encode().ljust(size)
    headers = {"Authorization": f"Bearer {shop.api_key}", "X-Service-Signature": shop.signature(raw)}

    answer = shop.app.test_client().post(
        URL,
        headers=headers,
        input_stream=io.BytesIO(raw),
        environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    )

    assert (answer.status_code, answer.json["error"]) == (413, "payload_too_large")
    assert _refunds(shop) == []


@pytest.mark.parametrize("body", [{}, {"externalEventId": None}, {"externalEventId": ""}, {"refundAmountCents": -1}])
def test_a_refund_names_its_sale(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (422, "external_event_id_required")
    assert sorted(answer.json) == ["error", "field", "message"]


@pytest.mark.parametrize("event", ["order-b", "ORDER-A", "order-a ", "order-a:override:" + "0" * 32, "%", "☕"])
def test_an_unknown_sale_cannot_be_refunded(shop, event):
    answer = post_refund(shop, event)

    assert (answer.status_code, answer.json["error"]) == (404, "conversion_not_found")
    assert sorted(answer.json) == ["error", "message"]


def test_a_sale_of_another_organization_looks_like_an_unknown_one(shop, rival):
    theirs, unknown = post_refund(rival, "order-a"), post_refund(rival, "never-sold")

    assert (theirs.status_code, theirs.data) == (404, unknown.data)
    assert _refunds(shop) == []


def test_the_same_external_id_is_refunded_where_the_key_belongs(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")
    rival.sale(externalEventId="order-a", amountCents=500)

    assert post_refund(rival, "order-a").json["refundedAmountCents"] == 500
    assert _refunds(shop) == []


def test_an_uncredited_sale_has_nothing_to_refund(shop):
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
def test_an_amount_that_does_not_fit_is_refused_and_not_clamped(shop, amount, code):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.json["error"]) == (422, code)
    assert sorted(answer.json) == ["error", "message"]
    assert _refunds(shop) == []


def test_what_would_overflow_the_rest_is_refused_and_the_rest_is_not(shop):
    post_refund(shop, "order-a", 9_999)

    assert post_refund(shop, "order-a", 2).json["error"] == "amount_exceeds_original"
    assert post_refund(shop, "order-a", 1).json["isFullRefund"] is True
    assert _refunds(shop) == [(9_999, 9_999, False), (1, 10_000, True)]


@pytest.mark.parametrize("amount", [None, 1, 10_000, 10**15])
def test_what_is_refunded_in_full_stays_so(shop, amount):
    post_refund(shop, "order-a")

    for _ in range(2):
        answer = post_refund(shop, "order-a", amount)
        assert (answer.status_code, answer.json["error"]) == (422, "already_fully_refunded")
        assert sorted(answer.json) == ["error", "message"]
    assert shop.rows("select sum(amount_cents) from ledger_entry") == [(0,)]
    assert _refunds(shop) == [(10_000, 10_000, True)]


@pytest.mark.parametrize("amount", ["1.5", "1.0", '"12"', "true", "[]", "{}"])
def test_an_amount_that_is_no_integer_is_malformed(shop, amount):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == ["refundAmountCents"]
    assert _refunds(shop) == []


@pytest.mark.parametrize("value", [7, True, ["order-a"], {"a": 1}, "order-a\x00"], ids=repr)
def test_an_external_id_is_a_text_without_nul(shop, value):
    answer = shop.post_signed(URL, {"externalEventId": value})

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert _refunds(shop) == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{", b'"order-a"', b'\xef\xbb\xbf{"externalEventId": "order-a"}', b"[" * 4_000]
)
def test_what_is_no_json_object_is_an_invalid_body(shop, body):
    answer = shop.post_signed(URL, body)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert sorted(answer.json) == ["error", "message"]


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_a_captured_sale_is_no_refund_of_itself(shop, url):
    raw = b'{"externalEventId": "order-b", "affiliateSlug": "ben", "amountCents": 10000}'
    signature = shop.signature(raw)
    sold = shop.call("POST", "/api/tracking/s2s", raw, X_Service_Signature=signature)

    answer = shop.call("POST", url, raw, X_Service_Signature=signature)

    assert sold.status_code == 200
    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")
    assert _refunds(shop) == []
    assert shop.rows("select count(*) from ledger_entry where amount_cents < 0") == [(0,)]
    assert post_refund(shop, "order-b").json["refundedAmountCents"] == 10_000


@pytest.mark.parametrize("amount", ["NaN", "1e400", "-Infinity", "1" * 3_000])
def test_a_number_that_is_none_is_an_invalid_body(shop, amount):
    answer = _refund(shop, amount)

    assert (answer.status_code, answer.json["error"]) == (400, "invalid_body")


@pytest.mark.parametrize("url", [URL, ALIAS])
def test_the_legacy_key_header_opens_no_refund(shop, url):
    raw = b'{"externalEventId": "order-a"}'
    headers = {"X-Service-Api-Key": shop.api_key, "X-Service-Signature": shop.signature(raw)}

    answer = shop.app.test_client().post(url, data=raw, headers=headers)

    assert (answer.status_code, answer.data) == (401, b"")
    assert _refunds(shop) == []


def test_a_refund_is_signed_like_a_sale(shop, rival):
    raw = b'{"externalEventId": "order-a"}'
    now = int(time.time())

    for signature in ("", "t=1", shop.signature(raw, at=now - 310), shop.signature(raw, at=now + 900)):
        answer = shop.call("POST", URL, raw, X_Service_Signature=signature)
        assert (answer.status_code, answer.data) == (401, b"")
    assert shop.call("POST", URL, raw, X_Service_Signature=rival.signature(raw)).status_code == 401
    assert shop.call("POST", URL, raw + b" ", X_Service_Signature=shop.signature(raw)).status_code == 401
    assert _refunds(shop) == []


def test_a_refund_needs_the_scope_and_the_plan_of_a_sale(app, shop):
    reader = post_refund(shop.other_key(scope="read"), "order-a")
    free = post_refund(Brand.create(app, plan="Free"), "order-a")
    trial = post_refund(Brand.create(app, plan="Free", status="Trialing"), "order-a")

    assert (reader.status_code, reader.json["error"]) == (403, "forbidden")
    assert "read_write" in reader.json["message"]
    assert (free.status_code, sorted(free.json)) == (402, ["current", "error", "message", "required", "trialing"])
    assert (free.json["error"], free.json["required"]) == ("plan_tier_required", "Starter")
    assert trial.status_code == 404
