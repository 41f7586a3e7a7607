"""Repeated refunds, by signature and by Idempotency-Key (tracking spec, section 5; core spec, section 8)."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from models import db

URL, ALIAS = "/api/tracking/refund", "/api/v1/tracking/refund"
PART = json.dumps({"externalEventId": "order-a", "refundAmountCents": 100}).encode()


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a", amountCents=10_000)
    return brand


def _sum_refunds(brand):
    return brand.rows("select coalesce(sum(amount_cents), 0)::int from refund")[0][0]


def _two_timestamps():
    now = int(time.time())
    return now, now - 1


def test_replayed_signature_returns_the_same_bytes_and_refunds_once(shop, drain):
    (now, _), answers = _two_timestamps(), []

    for url in (URL, URL, ALIAS, URL):
        answers.append(shop.post_signed(url, PART, at=now))
        drain()

    assert {answer.status_code for answer in answers} == {200}
    assert {answer.data for answer in answers} == {answers[0].data}
    assert {answer.content_type for answer in answers} == {"application/json"}
    assert _sum_refunds(shop) == 100
    assert shop.rows("select count(*) from event where type = 'conversion.refunded'") == [(1,)]


def test_same_body_signed_at_another_second_is_another_refund(shop):
    for at in _two_timestamps():
        assert shop.post_signed(URL, PART, at=at).status_code == 200

    assert _sum_refunds(shop) == 200


def test_padded_timestamp_does_not_refund_again(shop):
    (now, _) = _two_timestamps()
    first = shop.post_signed(URL, PART, at=now)
    padded = shop.signature(PART, at=now).replace("t=", "t=0")

    answer = shop.call("POST", URL, PART, X_Service_Signature=padded)

    assert answer.status_code == 401 or answer.data == first.data
    assert _sum_refunds(shop) == 100


def test_replayed_full_refund_returns_its_success(shop):
    (now, _), raw = _two_timestamps(), b'{"externalEventId": "order-a"}'

    first, replayed = (shop.post_signed(URL, raw, at=now) for _ in range(2))

    assert (first.json["isFullRefund"], replayed.data) == (True, first.data)


def test_replayed_refusal_returns_the_refusal(shop):
    (now, _), raw = _two_timestamps(), b'{"externalEventId": "order-b"}'
    first = shop.post_signed(URL, raw, at=now)
    shop.sale(externalEventId="order-b")

    replayed = shop.post_signed(URL, raw, at=now)

    assert (first.status_code, replayed.status_code, replayed.data) == (404, 404, first.data)
    assert _sum_refunds(shop) == 0


def test_signature_is_remembered_per_organization(shop, rival):
    (now, _) = _two_timestamps()
    rival.program()
    rival.affiliate("ben")
    rival.sale(externalEventId="order-a")

    for brand in (shop, rival):
        assert brand.post_signed(URL, PART, at=now).status_code == 200
    assert (_sum_refunds(shop), _sum_refunds(rival)) == (100, 100)


def test_replay_older_than_the_stored_answers_returns_401(shop):
    timestamp = int(time.time()) - 302

    assert shop.post_signed(URL, PART, at=timestamp).status_code == 401


def test_newly_signed_retry_with_one_idempotency_key_refunds_once(shop):
    now, earlier = _two_timestamps()

    first = shop.post_signed(URL, PART, at=earlier, Idempotency_Key="key-1")
    retry = shop.post_signed(URL, PART, at=now, Idempotency_Key="key-1")

    assert (first.status_code, "Idempotency-Replayed" in first.headers) == (200, False)
    assert (retry.status_code, retry.data, retry.headers["Idempotency-Replayed"]) == (200, first.data, "true")
    assert _sum_refunds(shop) == 100


def test_idempotency_key_with_another_body_returns_409(shop):
    now, earlier = _two_timestamps()
    shop.post_signed(URL, PART, at=earlier, Idempotency_Key="key-1")

    answer = shop.post_signed(URL, b'{"externalEventId": "order-a"}', at=now, Idempotency_Key="key-1")

    assert (answer.status_code, answer.json["error"]) == (409, "idempotency_conflict")
    assert _sum_refunds(shop) == 100


@pytest.mark.parametrize("replay", [{}, {"Idempotency_Key": "key-2"}], ids=["dropped", "changed"])
@pytest.mark.parametrize("captured", [0, 1], ids=["the first", "its retry"])
def test_replay_without_its_idempotency_key_does_not_refund_again(shop, captured, replay):
    timestamps = _two_timestamps()
    first, _ = (shop.post_signed(URL, PART, at=at, Idempotency_Key="key-1") for at in timestamps)

    answer = shop.post_signed(URL, PART, at=timestamps[captured], **replay)

    assert (answer.status_code, answer.data) == (200, first.data)
    assert _sum_refunds(shop) == 100


def test_replay_with_an_added_idempotency_key_does_not_refund_again(shop):
    (now, _) = _two_timestamps()
    first = shop.post_signed(URL, PART, at=now)

    answers = [shop.post_signed(URL, PART, at=now, Idempotency_Key=key) for key in ("a", "b", "a")]

    assert {answer.data for answer in answers} == {first.data}
    assert _sum_refunds(shop) == 100


def test_refusal_is_repeated_under_its_idempotency_key(shop):
    now, earlier = _two_timestamps()
    raw = b'{"externalEventId": "order-b"}'
    first = shop.post_signed(URL, raw, at=earlier, Idempotency_Key="key-1")
    shop.sale(externalEventId="order-b")

    repeated = shop.post_signed(URL, raw, at=now, Idempotency_Key="key-1")

    assert (repeated.status_code, repeated.data) == (404, first.data)
    assert repeated.headers["Idempotency-Replayed"] == "true"


def test_concurrent_replays_refund_once(shop):
    (now, _) = _two_timestamps()

    def send(key):
        try:
            return shop.post_signed(URL, PART, at=now, **({"Idempotency_Key": key} if key else {}))
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(send, [None, "a", "b", "a", None, "c"] * 2))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.data for answer in answers}) == 1
    assert _sum_refunds(shop) == 100
