"""What rails list of their transfers: all of ours since a time, with the ids that were sent with each."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from adapters.rails.base import CannotList, RailMisconfigured
from adapters.rails.processor_connect import ProcessorConnectRail
from domain.restores.transfers import TransferState
from models import ids
from tests.adapters.rails import fake_processor as fake
from tests.adapters.rails import places

_AFFILIATE, _MILESTONE = UUID(int=7), UUID(int=8)
_NATIVE = "EUR=500/600@0.833333333333@2026-11-27,USD=634/634@1@2026-11-28"
_LISTING = ("ProcessorConnect", "GlobalPayouts")


@pytest.fixture(params=_LISTING)
def listing(request, service):
    """Return a rail that has a list, with the fake service behind it."""
    return places.over_http(service, request.param)


@pytest.fixture
def service():
    started = fake.FakeProcessor()
    yield started
    started.stop()


def _since():
    return datetime.now(UTC) - timedelta(minutes=5)


def test_every_page_of_transfers_is_listed_with_its_ids(listing):
    labels = {"affiliate_id": str(_AFFILIATE), "milestone_id": str(_MILESTONE), "native": _NATIVE}
    sent = [listing.transfer(payout_id=ids.new_id(), labels=labels) for _ in range(5)]
    for transfer in sent:
        listing.rail.send(transfer)

    listed = {one.key: one for one in listing.rail.list_since(_since())}

    assert sorted(listed) == sorted(transfer.key for transfer in sent)
    first = listed[sent[0].key]
    assert (first.payout_id, first.organization_id) == (sent[0].payout_id, listing.organization_id)
    assert (first.affiliate_id, first.milestone_id) == (_AFFILIATE, _MILESTONE)
    assert (first.amount_cents, first.currency, first.state) == (1234, "USD", TransferState.paid)
    assert [(one.currency, one.native_cents) for one in first.natives] == [("EUR", 500), ("USD", 634)]
    assert first.account == places.ACCOUNTS[listing.method]


def test_transfers_of_a_former_release_are_listed_without_an_affiliate(listing):
    listing.rail.send(listing.transfer())

    (listed,) = listing.rail.list_since(_since())

    assert (listed.organization_id, listed.affiliate_id, listed.natives) == (listing.organization_id, None, None)


def test_earlier_transfers_and_those_of_others_are_left_out(listing):
    early, other, ours = (listing.transfer(payout_id=ids.new_id()) for _ in range(3))
    for transfer in (early, other, ours):
        listing.rail.send(transfer)
    listing.service.booked(early.key).created -= 3600
    listing.service.booked(other.key).metadata.clear()

    assert [one.key for one in listing.rail.list_since(_since())] == [ours.key]


def test_what_came_back_is_listed_as_returned(listing):
    transfer = listing.transfer()
    listing.rail.send(transfer)
    listing.service.settle(transfer.key, "returned")

    (listed,) = listing.rail.list_since(_since())

    assert listed.state == TransferState.returned


def test_wallet_says_that_it_has_no_list(service):
    with pytest.raises(CannotList):
        places.over_http(service, "Wallet").rail.list_since(_since())


def test_refused_credentials_are_misconfiguration(service):
    rail = ProcessorConnectRail(url=service.url, key="sk_other", webhook_secret=None)

    with pytest.raises(RailMisconfigured):
        list(rail.list_since(_since()))


def test_unreachable_service_cannot_list():
    rail = ProcessorConnectRail(url="http://127.0.0.1:1", key="sk", webhook_secret=None)

    with pytest.raises(CannotList):
        list(rail.list_since(_since()))


@pytest.mark.parametrize("fault", ["500", "repeat", "shapeless"])
def test_list_whose_second_page_is_no_answer_is_not_taken_for_the_whole(listing, fault):
    for _ in range(5):
        listing.rail.send(listing.transfer(payout_id=ids.new_id()))
    listing.service.page_fault = fault

    with pytest.raises(CannotList):
        list(listing.rail.list_since(_since()))


def test_labels_that_were_changed_at_the_rail_are_left_out(listing):
    transfer = listing.transfer(labels={"affiliate_id": str(_AFFILIATE), "native": _NATIVE})
    listing.rail.send(transfer)
    changed = {"native": "EUR=500/1234@0.8@2026-13-45", "affiliate_id": "ann", "organization_id": ""}
    listing.service.booked(transfer.key).metadata |= changed

    (listed,) = listing.rail.list_since(_since())

    assert (listed.natives, listed.affiliate_id, listed.organization_id) == (None, None, None)


def test_part_of_a_transfer_that_came_back_is_listed(service):
    place = places.over_http(service, "ProcessorConnect")
    transfer = place.transfer()
    place.rail.send(transfer)
    service.booked(transfer.key).returned = 200

    (listed,) = place.rail.list_since(_since())

    assert (listed.state, listed.amount_cents, listed.returned_cents) == (TransferState.paid, 1234, 200)
