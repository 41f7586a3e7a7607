"""The same sale again: for ever, at once, and under an Idempotency-Key (tracking spec, sections 2 and 4)."""

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


def _body(event="order-a", slug="ben", amount=10_000):
    return json.dumps({"externalEventId": event, "affiliateSlug": slug, "amountCents": amount}).encode()


def _keyed(brand, key, raw=None):
    return brand.post_signed(URL, raw or _body(), Idempotency_Key=key)


def _at_once(calls):
    """Run the calls together, each in a thread with a connection of its own."""
    start = threading.Barrier(len(calls))

    def run(call):
        start.wait()
        try:
            return call()
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def _run(brand, sql, *params):
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
def test_a_known_sale_is_deduped_whatever_has_changed_since(shop, drain, change):
    shop.sale(externalEventId="order-a")
    drain()
    _run(shop, change)

    again = shop.sale(externalEventId="order-a")
    drain()

    assert (again.status_code, again.json) == (200, DEDUPED)
    assert shop.rows("select count(*) from conversion") == [(1,)]
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


@pytest.mark.parametrize("fields", [{"amountCents": 1}, {"currency": "EUR"}, {"affiliateSlug": "nobody"}])
def test_a_known_sale_is_deduped_with_another_body_and_keeps_its_first(shop, fields):
    shop.sale(externalEventId="order-a", amountCents=700)

    assert shop.sale(externalEventId="order-a", **fields).json == DEDUPED
    assert shop.rows("select amount_cents, currency from sale") == [(700, "USD")]


def test_a_sale_is_deduped_after_it_was_refunded(shop, drain):
    shop.sale(externalEventId="order-a")
    post_refund(shop, "order-a")

    assert shop.sale(externalEventId="order-a").json == DEDUPED
    drain()
    assert shop.rows("select status from conversion") == [("Refunded",)]


def test_every_key_of_an_organization_shares_the_memory(shop):
    shop.sale(externalEventId="order-a")

    assert shop.other_key().sale(externalEventId="order-a").json == DEDUPED
    assert shop.other_key(is_test=True).sale(externalEventId="order-a").json == DEDUPED


def test_external_ids_are_told_apart_to_the_letter(shop):
    for event in ("order-a", "ORDER-A", "order-a ", " order-a", "ordér-a", "orde\u0301r-a"):
        assert "conversionId" in shop.sale(externalEventId=event).json, event


def test_the_same_external_id_in_two_organizations_is_two_sales(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")

    ours, theirs = shop.sale(externalEventId="order-a"), rival.sale(externalEventId="order-a")
    drain()

    assert ours.json["conversionId"] != theirs.json["conversionId"]
    for brand, answer in ((shop, ours), (rival, theirs)):
        assert brand.rows("select id::text from conversion") == [(answer.json["conversionId"],)]


def test_thirty_at_once_are_one_sale(shop, drain):
    answers = _at_once([lambda: shop.sale(externalEventId="order-a").json] * 30)
    drain(deliveries=3)

    assert sorted("conversionId" in answer for answer in answers) == [False] * 29 + [True]
    assert answers.count(DEDUPED) == 29
    assert shop.rows("select count(*) from conversion") == [(1,)]
    assert shop.rows("select count(*) from ledger_entry") == [(1,)]
    assert shop.rows("select count(*) from event") == [(1,)]


def test_a_keyed_retry_gets_the_first_answer_and_says_so(shop):
    first = _keyed(shop, "key-1")
    again = _keyed(shop, "key-1")

    assert "conversionId" in first.json
    assert "Idempotency-Replayed" not in first.headers
    assert (again.status_code, again.data, again.content_type) == (200, first.data, first.content_type)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_key_with_another_body_is_a_conflict_and_does_nothing(shop):
    _keyed(shop, "key-1")

    answer = _keyed(shop, "key-1", _body("order-b"))

    assert (answer.status_code, answer.json["error"]) == (409, "idempotency_conflict")
    assert sorted(answer.json) == ["error", "message"]
    assert "Idempotency-Replayed" not in answer.headers
    assert shop.rows("select external_event_id from sale") == [("order-a",)]
    assert _keyed(shop, "key-1").headers["Idempotency-Replayed"] == "true"


def test_a_key_belongs_to_its_caller_and_its_address(shop, rival):
    _keyed(shop, "key-1")

    assert _keyed(shop.other_key(), "key-1").json == DEDUPED
    assert _keyed(rival, "key-1").json["error"] == "affiliate_not_found"
    refund = {"externalEventId": "order-a"}
    assert shop.post_signed("/api/tracking/refund", refund, Idempotency_Key="key-1").json["isFullRefund"] is True


def test_a_key_is_forgotten_after_an_hour(shop):
    _keyed(shop, "key-1")

    _run(shop, "update stored_answer set created_at = created_at - interval '59 minutes'")
    assert _keyed(shop, "key-1").headers["Idempotency-Replayed"] == "true"
    _run(shop, "update stored_answer set created_at = created_at - interval '2 minutes'")
    assert _keyed(shop, "key-1").json == DEDUPED


def test_a_refusal_is_repeated_under_its_key_too(shop):
    raw = _body(slug="zoe")
    first = _keyed(shop, "key-1", raw)
    shop.affiliate("zoe")

    again, unkeyed = _keyed(shop, "key-1", raw), shop.post_signed(URL, raw)

    assert (first.status_code, first.json["error"]) == (400, "affiliate_not_found")
    assert (again.status_code, again.data) == (400, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "conversionId" in unkeyed.json


def test_an_uncredited_refusal_is_repeated_under_its_key_with_its_one_row(shop):
    shop.affiliate("zoe", status="Paused")

    first, again = (_keyed(shop, "key-1", _body(slug="zoe")) for _ in range(2))

    assert (first.status_code, again.status_code, again.data) == (400, 400, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert shop.rows("select count(*) from uncredited_conversion") == [(1,)]


@pytest.mark.parametrize("key", ["", "k" * 256, "k\x7f", "ключ" * 64])
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_written(shop, key):
    answer = _keyed(shop, key.encode().decode("latin-1"))

    assert answer.status_code == 400
    assert shop.rows("select count(*) from sale") == [(0,)]


def test_twins_wait_for_each_other_and_agree(shop):
    answers = _at_once([lambda: _keyed(shop, "key-1")] * 8)

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.data for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer.headers for answer in answers) == 7


def test_a_twin_that_waited_five_seconds_is_told_to_come_back(shop, monkeypatch):
    has_its_key, may_go_on, accept_sale = threading.Event(), threading.Event(), acceptance.accept_sale

    def sale(**posted):
        if not has_its_key.is_set():
            has_its_key.set()
            may_go_on.wait()
        return accept_sale(**posted)

    monkeypatch.setattr(acceptance, "accept_sale", sale)
    first = start_call(lambda: _keyed(shop, "key-1"), until=has_its_key.is_set)

    started = time.monotonic()
    twin = _keyed(shop, "key-1")
    waited_s = time.monotonic() - started
    may_go_on.set()

    assert (twin.status_code, twin.json["error"]) == (409, "idempotency_conflict")
    assert waited_s > 4.5
    assert "conversionId" in first().json
    assert _keyed(shop, "key-1").data == first().data
