"""What is the wallet service's own: tokens, batches, items and the links of its refusals.

Source: the documentation of the PayPal Payouts API.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.rails import wallet
from adapters.rails.base import NotSigned, RailMisconfigured, resolve
from adapters.rails.wallet import WalletRail
from adapters.rails.wallet_client import WalletResponse
from domain.payouts.transfers import Accepted, Paid, Rejected, Unknown
from tests.adapters.rails import fake_processor, places


@pytest.fixture
def place(service):
    return places.over_http(service, "Wallet")


def _refusal(status=400, **body):
    return WalletResponse(status, {"name": "USER_BUSINESS_ERROR", "message": "m", **body})


def _link(path, host="https://api.example"):
    return {"href": f"{host}{path}", "rel": "self", "method": "GET"}


def test_one_token_serves_many_requests(place):
    for attempt in (1, 2, 3):
        place.rail.send(place.transfer(attempt=attempt))

    assert place.service.requests.count(("POST", "/v1/oauth2/token")) == 1


def test_a_token_that_was_taken_back_is_replaced_once(place):
    place.misbehave("401")

    assert isinstance(place.rail.send(place.transfer()), Accepted)
    assert place.service.requests.count(("POST", "/v1/oauth2/token")) == 2
    assert len(place.books()) == 1


def test_wrong_credentials_are_the_operators_to_mend(service):
    rail = WalletRail(url=service.url, client_id="client", secret="wrong", webhook_id=None)

    with pytest.raises(RailMisconfigured, match="401"):
        rail.send(places.over_http(service, "Wallet").transfer())


def test_without_a_webhook_no_event_is_believed(place):
    transfer = place.transfer()
    place.rail.send(transfer)
    headers, body = place.service.event(transfer.key)
    rail = WalletRail(
        url=place.service.url, client_id=fake_processor.CLIENT_ID, secret=fake_processor.CLIENT_SECRET, webhook_id=None
    )

    with pytest.raises(NotSigned):
        rail.parse_event(headers, body)


@pytest.mark.parametrize("status", ["UNCLAIMED", "ONHOLD", "BLOCKED", "PENDING", "SOMETHING_NEW"])
def test_an_item_that_is_still_with_the_service_is_accepted(place, status):
    transfer = place.transfer()
    sent = place.rail.send(transfer)
    place.service.settle(transfer.key, status)

    assert place.rail.look_up(replace(transfer, known=sent.references)) == sent


@pytest.mark.parametrize(("status", "code"), [("failed", "receiver_unconfirmed"), ("REFUNDED", "refunded")])
def test_an_item_that_failed_is_rejected_with_its_reason(place, status, code):
    transfer = place.transfer()
    sent = place.rail.send(transfer)
    place.service.settle(transfer.key, status)

    answer = place.rail.look_up(replace(transfer, known=sent.references))

    assert isinstance(answer, Rejected)
    assert answer.code == code


@pytest.mark.parametrize("status", ["DENIED", "CANCELED"])
def test_a_batch_that_was_denied_is_rejected(place, status):
    transfer = place.transfer()
    named = {"sender_batch_id": transfer.key}
    header = {"payout_batch_id": "B", "batch_status": status, "sender_batch_header": named}

    assert wallet._batch(WalletResponse(200, {"batch_header": header}), transfer).code == status.lower()


def test_a_paid_item_without_its_transaction_is_unknown():
    assert isinstance(wallet._item({"transaction_status": "SUCCESS"}, "B"), Unknown)


@pytest.mark.parametrize(
    "refusal",
    [
        _refusal(details=[{"field": "SENDER_BATCH_ID", "link": [_link("/v1/payments/payouts/B1")]}]),
        _refusal(details=[{"field": "SENDER_BATCH_ID", "links": [_link("/v1/payments/payouts/B1?page=1")]}]),
        _refusal(details=[{"field": "SENDER_BATCH_ID", "link": _link("/v1/payments/payouts/B1")}]),
        _refusal(details=[{"field": "SENDER_BATCH_ID"}], links=[_link("/v1/payments/payouts/B1")]),
        _refusal(links=[_link("/v1/payments/payouts/B1"), {"href": None}, 7]),
        WalletResponse(400, {"name": "DUPLICATE_REQUEST_ID", "links": [_link("/v1/payments/payouts/B1")]}),
    ],
)
def test_a_repeat_is_refused_with_the_first_batch(refusal):
    assert wallet._is_repeat(refusal)
    assert wallet._linked_batch(refusal) == "B1"


@pytest.mark.parametrize(
    "links",
    [
        [],
        [_link("/v1/payments/payouts/B1/../../x")],
        [_link("/elsewhere/B1")],
        [_link("/v1/payments/payouts/B1"), _link("/v1/payments/payouts/B2")],
        [{"href": {"a": 1}}],
    ],
)
def test_a_link_that_names_no_one_batch_is_none(links):
    assert wallet._linked_batch(_refusal(links=links)) is None


def test_a_refusal_for_another_reason_is_no_repeat(place):
    refusal = _refusal(details=[{"field": "items[0].receiver", "issue": f"{places.ACCOUNTS['Wallet'].lower()} is bad"}])

    assert not wallet._is_repeat(refusal)
    answer = wallet._refusal(refusal, place.transfer())
    assert answer == Rejected("user_business_error", "m B...@e... is bad")


def test_a_batch_that_does_not_say_whose_it_is_is_unknown(place):
    header = {"payout_batch_id": "B", "batch_status": "DENIED"}

    assert isinstance(wallet._batch(WalletResponse(200, {"batch_header": header}), place.transfer()), Unknown)


def test_a_repeat_that_lacks_money_proves_nothing_of_the_first(place):
    place.misbehave("hang_after")
    transfer = place.transfer()
    place.rail.send(transfer)
    place.misbehave("reject")

    assert isinstance(resolve(place.rail, transfer, age=timedelta()), Unknown)
    assert isinstance(resolve(place.rail, transfer, age=timedelta()), Paid)
    assert len(place.books()) == 1


def test_a_repeat_that_is_malformed_was_never_carried_out(place):
    refusal = WalletResponse(400, {"name": "VALIDATION_ERROR", "message": "m"})

    assert wallet._refusal(refusal, replace(place.transfer(), is_repeat=True)) == Rejected("validation_error", "m")
