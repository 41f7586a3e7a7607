"""What the rails tell us by themselves: believed only when they signed it.

Source: the rails' own documentation; tracking spec, "Event types and payloads" (payout.paid's references).
"""

from dataclasses import replace

import pytest
from werkzeug.datastructures import Headers

from adapters.rails.base import NotSigned
from domain.payouts.transfers import Paid, Rejected, Unknown
from tests.adapters.rails import places


def _told(outside, transfer):
    headers, body = outside.service.event(transfer.key)
    return outside.rail.parse_event(Headers(headers), body)


def test_a_confirmation_says_which_transfer_and_what_became_of_it(outside):
    transfer = outside.transfer()
    sent = outside.rail.send(transfer)
    looked_up = outside.rail.look_up(replace(transfer, known=sent.references))

    event = _told(outside, transfer)

    assert event.key == transfer.key
    assert isinstance(event.answer, Paid)
    assert event.answer == looked_up
    assert event.references.items() <= looked_up.references.items()


def test_a_confirmation_told_twice_has_one_id(outside):
    transfer = outside.transfer()
    outside.rail.send(transfer)

    assert _told(outside, transfer) == _told(outside, transfer)


def test_a_confirmation_of_what_came_back_is_a_rejection(outside):
    transfer = outside.transfer()
    outside.rail.send(transfer)
    outside.service.settle(transfer.key, "returned")

    assert isinstance(_told(outside, transfer).answer, Rejected)


@pytest.mark.parametrize("change", ["body", "signature", "no signature"])
def test_a_confirmation_that_the_rail_did_not_sign_is_refused(outside, change):
    transfer = outside.transfer()
    outside.rail.send(transfer)
    headers, body = outside.service.event(transfer.key)
    name = "PAYPAL-TRANSMISSION-SIG" if outside.method == "Wallet" else "Stripe-Signature"
    if change == "body":
        body = body.replace(b"evt_", b"evil_").replace(b"WH-", b"EVIL-")
    elif change == "signature":
        headers[name] = headers[name][:-1] + ("0" if headers[name][-1] != "0" else "1")
    else:
        del headers[name]

    with pytest.raises(NotSigned):
        outside.rail.parse_event(Headers(headers), body)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"id": 1}', b'"' + b"x" * 1000])
def test_what_is_no_confirmation_is_refused(outside, body):
    with pytest.raises(NotSigned):
        outside.rail.parse_event(Headers({"Stripe-Signature": "t=1,v1=00"}), body)


def test_a_confirmation_of_somebody_elses_transfer_is_none(outside):
    transfer = outside.transfer()
    outside.rail.send(transfer)
    booked = outside.service.booked(transfer.key)
    booked.metadata = {}
    headers, body = outside.service.event(transfer.key)
    if outside.method == "Wallet":
        pytest.skip("an item always carries its sender's id")

    assert outside.rail.parse_event(Headers(headers), body) is None


def test_a_thin_confirmation_whose_payment_cannot_be_read_is_unknown(service):
    place = places.over_http(service, "GlobalPayouts")
    transfer = place.transfer()
    sent = place.rail.send(transfer)
    headers, body = service.event(transfer.key)
    service.books.clear()

    event = place.rail.parse_event(Headers(headers), body)

    assert (event.key, event.references) == (None, sent.references)
    assert isinstance(event.answer, Unknown)
