"""Repeated sales: later, concurrently, and under an Idempotency-Key (tracking spec, sections 2 and 4)."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from models import db
from pipelines.conversions import acceptance
from tests.support.api.concurrency import start_call
from tests.support.rows.refund_requests import post_refund

URL = "/api/tracking/s2s"
DEDUPED = {"ok": True, "deduped": True}


def _build_body(event="order-a", slug="ben", amount=10_000):
    return json.dumps({"externalEventId": event, "affiliateSlug": slug, "amountCents": amount}).encode()


def _post_with_key(brand, key, raw=None):
    return brand.post_signed(URL, raw or _build_body(), Idempotency_Key=key)


def _call_concurrently(calls):
    """Run the calls concurrently, each in a thread with its own connection, and return their results."""
    start = threading.Barrier(len(calls))

    def run(call):
        start.wait()
        try:
            return call()
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def _execute(brand, sql, *params):
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


@pytest.mark.parametrize(
    "change",
    [
        "update affiliate set status = 'Paused'",
        "update affiliate set status = 'Banned'",
        "update affiliate set deleted_at = now()",
        "update tracking_link set deleted_at = now()",
        "update program set archived_at = now()",
        "update program set suspended_at = now()",
        "update program set is_active = false",
        "update program set default_commission_model = 'Cpc'",
        "update sale set accepted_at = accepted_at - interval '10 years'",
        "update conversion set status = 'Denied'",
    ],
)
def test_known_sale_is_deduplicated_after_any_change(shop, drain, change):
    shop.sale(externalEventId="order-a")
    drain()
    _execute(shop, change)

    repeated = shop.sale(externalEventId="order-a")
    drain()

    assert (repeated.status_code, repeated.json) == (200, DEDUPED)
    assert shop.rows("select count(*) from conversion") == [(1,)]
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


@pytest.mark.parametrize("fields", [{"amountCents": 1}, {"currency": "EUR"}, {"affiliateSlug": "nobody"}])
def test_known_sale_with_another_body_is_deduplicated_and_unchanged(shop, fields):
    shop.sale(externalEventId="order-a", amountCents=700)

    assert shop.sale(externalEventId="order-a", **fields).json == DEDUPED
    assert shop.rows("select amount_cents, currency from sale") == [(700, "USD")]


def test_refunded_sale_is_deduplicated(shop, drain):
    shop.sale(externalEventId="order-a")
    post_refund(shop, "order-a")

    assert shop.sale(externalEventId="order-a").json == DEDUPED
    drain()
    assert shop.rows("select status from conversion") == [("Refunded",)]


def test_sale_is_deduplicated_across_keys_of_an_organization(shop):
    shop.sale(externalEventId="order-a")

    assert shop.other_key().sale(externalEventId="order-a").json == DEDUPED
    assert shop.other_key(is_test=True).sale(externalEventId="order-a").json == DEDUPED


def test_external_ids_are_compared_exactly(shop):
    for event in ("order-a", "ORDER-A", "order-a ", " order-a", "ordér-a", "orde\u0301r-a"):
        assert "conversionId" in shop.sale(externalEventId=event).json, event


def test_same_external_id_in_two_organizations_is_two_sales(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")

    shops_answer, rivals_answer = shop.sale(externalEventId="order-a"), rival.sale(externalEventId="order-a")
    drain()

    assert shops_answer.json["conversionId"] != rivals_answer.json["conversionId"]
    for brand, answer in ((shop, shops_answer), (rival, rivals_answer)):
        assert brand.rows("select id::text from conversion") == [(answer.json["conversionId"],)]


def test_concurrent_duplicates_are_one_sale(shop, drain):
    answers = _call_concurrently([lambda: shop.sale(externalEventId="order-a").json] * 30)
    drain(deliveries=3)

    assert sorted("conversionId" in answer for answer in answers) == [False] * 29 + [True]
    assert answers.count(DEDUPED) == 29
    assert shop.rows("select count(*) from conversion") == [(1,)]
    assert shop.rows("select count(*) from ledger_entry") == [(1,)]
    assert shop.rows("select count(*) from event") == [(1,)]


def test_retry_with_an_idempotency_key_returns_the_first_answer(shop):
    first = _post_with_key(shop, "key-1")
    repeated = _post_with_key(shop, "key-1")

    assert "conversionId" in first.json
    assert "Idempotency-Replayed" not in first.headers
    assert (repeated.status_code, repeated.data, repeated.content_type) == (200, first.data, first.content_type)
    assert repeated.headers["Idempotency-Replayed"] == "true"


def test_idempotency_key_with_another_body_returns_409(shop):
    _post_with_key(shop, "key-1")

    answer = _post_with_key(shop, "key-1", _build_body("order-b"))

    assert (answer.status_code, answer.json["error"]) == (409, "idempotency_conflict")
    assert sorted(answer.json) == ["doc_url", "error", "message"]
    assert "Idempotency-Replayed" not in answer.headers
    assert shop.rows("select external_event_id from sale") == [("order-a",)]
    assert _post_with_key(shop, "key-1").headers["Idempotency-Replayed"] == "true"


def test_idempotency_key_belongs_to_one_key_and_one_path(shop, rival):
    _post_with_key(shop, "key-1")

    assert _post_with_key(shop.other_key(), "key-1").json == DEDUPED
    assert _post_with_key(rival, "key-1").json["error"] == "affiliate_not_found"
    refund = {"externalEventId": "order-a"}
    assert shop.post_signed("/api/tracking/refund", refund, Idempotency_Key="key-1").json["isFullRefund"] is True


def test_idempotency_key_expires_after_an_hour(shop):
    _post_with_key(shop, "key-1")

    _execute(shop, "update stored_answer set created_at = created_at - interval '59 minutes'")
    assert _post_with_key(shop, "key-1").headers["Idempotency-Replayed"] == "true"
    _execute(shop, "update stored_answer set created_at = created_at - interval '2 minutes'")
    assert _post_with_key(shop, "key-1").json == DEDUPED


def test_refusal_is_repeated_under_its_idempotency_key(shop):
    raw = _build_body(slug="zoe")
    first = _post_with_key(shop, "key-1", raw)
    shop.affiliate("zoe")

    repeated, without_key = _post_with_key(shop, "key-1", raw), shop.post_signed(URL, raw)

    assert (first.status_code, first.json["error"]) == (400, "affiliate_not_found")
    assert (repeated.status_code, repeated.data) == (400, first.data)
    assert repeated.headers["Idempotency-Replayed"] == "true"
    assert "conversionId" in without_key.json


def test_repeated_uncredited_refusal_adds_no_row(shop):
    shop.affiliate("zoe", status="Paused")

    first, repeated = (_post_with_key(shop, "key-1", _build_body(slug="zoe")) for _ in range(2))

    assert (first.status_code, repeated.status_code, repeated.data) == (400, 400, first.data)
    assert repeated.headers["Idempotency-Replayed"] == "true"
    assert shop.rows("select count(*) from uncredited_conversion") == [(1,)]


@pytest.mark.parametrize("key", ["", "k" * 256, "k\x7f", "ключ" * 64])
def test_malformed_idempotency_key_is_refused_and_nothing_is_written(shop, key):
    answer = _post_with_key(shop, key.encode().decode("latin-1"))

    assert answer.status_code == 400
    assert shop.rows("select count(*) from sale") == [(0,)]


def test_concurrent_requests_with_one_key_return_one_answer(shop):
    answers = _call_concurrently([lambda: _post_with_key(shop, "key-1")] * 8)

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.data for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == 7


def test_request_returns_409_after_waiting_five_seconds_for_its_duplicate(shop, monkeypatch):
    first_has_begun, first_may_continue, accept_sale = threading.Event(), threading.Event(), acceptance.accept_sale

    def accept_slowly(**arguments):
        if not first_has_begun.is_set():
            first_has_begun.set()
            first_may_continue.wait()
        return accept_sale(**arguments)

    monkeypatch.setattr(acceptance, "accept_sale", accept_slowly)
    first = start_call(lambda: _post_with_key(shop, "key-1"), until=first_has_begun.is_set)

    started = time.monotonic()
    duplicate = _post_with_key(shop, "key-1")
    waited_s = time.monotonic() - started
    first_may_continue.set()

    assert (duplicate.status_code, duplicate.json["error"]) == (409, "idempotency_conflict")
    assert waited_s > 4.5
    assert "conversionId" in first().json
    assert _post_with_key(shop, "key-1").data == first().data
