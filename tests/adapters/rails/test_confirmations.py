"""Confirmations that the rails send are trusted only if signed.

Source: the rails' own documentation; tracking spec, "Event types and payloads" (payout.paid's references).
"""

from dataclasses import replace

import pytest
from werkzeug.datastructures import Headers

from adapters.rails.base import NotSigned
from domain.payouts.transfers import Paid, Rejected, Unknown
from tests.adapters.rails import rail_setups


def _parse_event(outside, transfer):
    headers, body = outside.service.event(transfer.key)
    return outside.rail.parse_event(Headers(headers), body)


def test_confirmation_has_the_key_and_result_of_the_transfer(external_setup):
    transfer = external_setup.transfer()
    answer = external_setup.rail.send(transfer)
    looked_up = external_setup.rail.look_up(replace(transfer, known=answer.references))

    event = _parse_event(external_setup, transfer)

    assert event.key == transfer.key
    assert isinstance(event.answer, Paid)
    assert event.answer == looked_up
    assert event.references.items() <= looked_up.references.items()


def test_repeated_confirmation_has_the_same_id(external_setup):
    transfer = external_setup.transfer()
    external_setup.rail.send(transfer)

    assert _parse_event(external_setup, transfer) == _parse_event(external_setup, transfer)


def test_confirmation_of_a_returned_transfer_is_rejected(external_setup):
    transfer = external_setup.transfer()
    external_setup.rail.send(transfer)
    external_setup.service.settle(transfer.key, "returned")

    assert isinstance(_parse_event(external_setup, transfer).answer, Rejected)


@pytest.mark.parametrize("change", ["body", "signature", "no signature"])
def test_unsigned_confirmation_raises_not_signed(external_setup, change):
    transfer = external_setup.transfer()
    external_setup.rail.send(transfer)
    headers, body = external_setup.service.event(transfer.key)
    name = "PAYPAL-TRANSMISSION-SIG" if external_setup.method == "Wallet" else "Stripe-Signature"
    if change == "body":
        body = body.replace(b"evt_", b"evil_").replace(b"WH-", b"EVIL-")
    elif change == "signature":
        headers[name] = headers[name][:-1] + ("0" if headers[name][-1] != "0" else "1")
    else:
        del headers[name]

    with pytest.raises(NotSigned):
        external_setup.rail.parse_event(Headers(headers), body)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"id": 1}', b'"' + b"x" * 1000])
def test_malformed_confirmation_raises_not_signed(external_setup, body):
    with pytest.raises(NotSigned):
        external_setup.rail.parse_event(Headers({"Stripe-Signature": "t=1,v1=00"}), body)


def test_confirmation_of_a_foreign_transfer_is_ignored(external_setup):
    transfer = external_setup.transfer()
    external_setup.rail.send(transfer)
    booking = external_setup.service.find_booking(transfer.key)
    booking.metadata = {}
    headers, body = external_setup.service.event(transfer.key)
    if external_setup.method == "Wallet":
        pytest.skip("an item always carries its sender's id")

    assert external_setup.rail.parse_event(Headers(headers), body) is None


def test_confirmation_of_an_unreadable_payment_is_unknown(service):
    rail_setup = rail_setups.over_http(service, "GlobalPayouts")
    transfer = rail_setup.transfer()
    answer = rail_setup.rail.send(transfer)
    headers, body = service.event(transfer.key)
    service.books.clear()

    event = rail_setup.rail.parse_event(Headers(headers), body)

    assert (event.key, event.references) == (None, answer.references)
    assert isinstance(event.answer, Unknown)
