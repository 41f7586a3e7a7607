"""Behaviour of the wallet rail only: tokens, batches, items and the links in its refusals.

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
from tests.adapters.rails import fake_processor, rail_setups


@pytest.fixture
def rail_setup(service):
    return rail_setups.over_http(service, "Wallet")


def _refusal(status=400, **body):
    return WalletResponse(status, {"name": "USER_BUSINESS_ERROR", "message": "m", **body})


def _link(path, host="https://api.example"):
    return {"href": f"{host}{path}", "rel": "self", "method": "GET"}


def test_one_token_serves_many_requests(rail_setup):
    for attempt in (1, 2, 3):
        rail_setup.rail.send(rail_setup.transfer(attempt=attempt))

    assert rail_setup.service.requests.count(("POST", "/v1/oauth2/token")) == 1


def test_revoked_token_is_replaced_once(rail_setup):
    rail_setup.misbehave("401")

    assert isinstance(rail_setup.rail.send(rail_setup.transfer()), Accepted)
    assert rail_setup.service.requests.count(("POST", "/v1/oauth2/token")) == 2
    assert len(rail_setup.books()) == 1


def test_wrong_credentials_raise_rail_misconfigured(service):
    rail = WalletRail(url=service.url, client_id="client", secret="wrong", webhook_id=None)

    with pytest.raises(RailMisconfigured, match="401"):
        rail.send(rail_setups.over_http(service, "Wallet").transfer())


def test_event_without_a_configured_webhook_raises_not_signed(rail_setup):
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)
    headers, body = rail_setup.service.event(transfer.key)
    rail = WalletRail(
        url=rail_setup.service.url,
        client_id=fake_processor.CLIENT_ID,
        secret=fake_processor.CLIENT_SECRET,
        webhook_id=None,
    )

    with pytest.raises(NotSigned):
        rail.parse_event(headers, body)


@pytest.mark.parametrize("status", ["UNCLAIMED", "ONHOLD", "BLOCKED", "PENDING", "SOMETHING_NEW"])
def test_unsettled_item_is_accepted(rail_setup, status):
    transfer = rail_setup.transfer()
    answer = rail_setup.rail.send(transfer)
    rail_setup.service.settle(transfer.key, status)

    assert rail_setup.rail.look_up(replace(transfer, known=answer.references)) == answer


@pytest.mark.parametrize(("status", "code"), [("failed", "receiver_unconfirmed"), ("REFUNDED", "refunded")])
def test_failed_item_is_rejected_with_its_reason(rail_setup, status, code):
    transfer = rail_setup.transfer()
    first_answer = rail_setup.rail.send(transfer)
    rail_setup.service.settle(transfer.key, status)

    answer = rail_setup.rail.look_up(replace(transfer, known=first_answer.references))

    assert isinstance(answer, Rejected)
    assert answer.code == code


@pytest.mark.parametrize("status", ["DENIED", "CANCELED"])
def test_denied_batch_is_rejected(rail_setup, status):
    transfer = rail_setup.transfer()
    batch_header = {"sender_batch_id": transfer.key}
    header = {"payout_batch_id": "B", "batch_status": status, "sender_batch_header": batch_header}

    assert wallet._batch(WalletResponse(200, {"batch_header": header}), transfer).code == status.lower()


def test_paid_item_without_a_transaction_id_is_unknown():
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
def test_refusal_of_a_repeat_links_to_the_first_batch(refusal):
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
def test_ambiguous_or_foreign_link_is_ignored(links):
    assert wallet._linked_batch(_refusal(links=links)) is None


def test_other_refusal_is_not_a_repeat(rail_setup):
    refusal = _refusal(
        details=[{"field": "items[0].receiver", "issue": f"{rail_setups.ACCOUNTS['Wallet'].lower()} is bad"}]
    )

    assert not wallet._is_repeat(refusal)
    answer = wallet._refusal(refusal, rail_setup.transfer())
    assert answer == Rejected("user_business_error", "m B...@e... is bad")


def test_batch_without_its_key_is_unknown(rail_setup):
    header = {"payout_batch_id": "B", "batch_status": "DENIED"}

    assert isinstance(wallet._batch(WalletResponse(200, {"batch_header": header}), rail_setup.transfer()), Unknown)


def test_refused_repeat_leaves_the_first_transfer_unknown(rail_setup):
    rail_setup.misbehave("hang_after")
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)
    rail_setup.misbehave("reject")

    assert isinstance(resolve(rail_setup.rail, transfer, age=timedelta()), Unknown)
    assert isinstance(resolve(rail_setup.rail, transfer, age=timedelta()), Paid)
    assert len(rail_setup.books()) == 1


def test_malformed_repeat_is_rejected(rail_setup):
    refusal = WalletResponse(400, {"name": "VALIDATION_ERROR", "message": "m"})

    assert wallet._refusal(refusal, replace(rail_setup.transfer(), is_repeat=True)) == Rejected("validation_error", "m")
