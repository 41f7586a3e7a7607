"""Rails list all transfers of this service since a time, with the ids sent with each."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from adapters.rails.base import CannotList, RailMisconfigured
from adapters.rails.processor_connect import ProcessorConnectRail
from domain.restores.transfers import TransferState
from models import ids
from tests.adapters.rails import fake_processor as fake
from tests.adapters.rails import rail_setups

_AFFILIATE, _MILESTONE = UUID(int=7), UUID(int=8)
_NATIVE = "EUR=500/600@0.833333333333@2026-11-27,USD=634/634@1@2026-11-28"
_LISTING_RAILS = ("ProcessorConnect", "GlobalPayouts")


@pytest.fixture(params=_LISTING_RAILS)
def listing_setup(request, service):
    """Return a rail that has a list, with the fake service behind it."""
    return rail_setups.over_http(service, request.param)


@pytest.fixture
def service():
    processor = fake.FakeProcessor()
    yield processor
    processor.stop()


def _start_time():
    return datetime.now(UTC) - timedelta(minutes=5)


def test_all_pages_of_transfers_are_listed_with_their_ids(listing_setup):
    labels = {"affiliate_id": str(_AFFILIATE), "milestone_id": str(_MILESTONE), "native": _NATIVE}
    transfers = [listing_setup.transfer(payout_id=ids.new_id(), labels=labels) for _ in range(5)]
    for transfer in transfers:
        listing_setup.rail.send(transfer)

    listed = {transfer_row.key: transfer_row for transfer_row in listing_setup.rail.list_since(_start_time())}

    assert sorted(listed) == sorted(transfer.key for transfer in transfers)
    first = listed[transfers[0].key]
    assert (first.payout_id, first.organization_id) == (transfers[0].payout_id, listing_setup.organization_id)
    assert (first.affiliate_id, first.milestone_id) == (_AFFILIATE, _MILESTONE)
    assert (first.amount_cents, first.currency, first.state) == (1234, "USD", TransferState.paid)
    assert [(transfer_row.currency, transfer_row.native_cents) for transfer_row in first.natives] == [
        ("EUR", 500),
        ("USD", 634),
    ]
    assert first.account == rail_setups.ACCOUNTS[listing_setup.method]


def test_transfers_of_an_earlier_release_are_listed_without_affiliate(listing_setup):
    listing_setup.rail.send(listing_setup.transfer())

    (listed,) = listing_setup.rail.list_since(_start_time())

    assert (listed.organization_id, listed.affiliate_id, listed.natives) == (listing_setup.organization_id, None, None)


def test_earlier_and_foreign_transfers_are_not_listed(listing_setup):
    early, other, ours = (listing_setup.transfer(payout_id=ids.new_id()) for _ in range(3))
    for transfer in (early, other, ours):
        listing_setup.rail.send(transfer)
    listing_setup.service.find_booking(early.key).created -= 3600
    listing_setup.service.find_booking(other.key).metadata.clear()

    assert [transfer_row.key for transfer_row in listing_setup.rail.list_since(_start_time())] == [ours.key]


def test_returned_transfer_is_listed_as_returned(listing_setup):
    transfer = listing_setup.transfer()
    listing_setup.rail.send(transfer)
    listing_setup.service.settle(transfer.key, "returned")

    (listed,) = listing_setup.rail.list_since(_start_time())

    assert listed.state == TransferState.returned


def test_wallet_raises_cannot_list(service):
    with pytest.raises(CannotList):
        rail_setups.over_http(service, "Wallet").rail.list_since(_start_time())


def test_rejected_credentials_raise_rail_misconfigured(service):
    rail = ProcessorConnectRail(url=service.url, key="sk_other", webhook_secret=None)

    with pytest.raises(RailMisconfigured):
        list(rail.list_since(_start_time()))


def test_unreachable_service_cannot_list():
    rail = ProcessorConnectRail(url="http://127.0.0.1:1", key="sk", webhook_secret=None)

    with pytest.raises(CannotList):
        list(rail.list_since(_start_time()))


@pytest.mark.parametrize("fault", ["500", "repeat", "shapeless"])
def test_faulty_second_page_raises_cannot_list(listing_setup, fault):
    for _ in range(5):
        listing_setup.rail.send(listing_setup.transfer(payout_id=ids.new_id()))
    listing_setup.service.page_fault = fault

    with pytest.raises(CannotList):
        list(listing_setup.rail.list_since(_start_time()))


def test_changed_labels_are_ignored(listing_setup):
    transfer = listing_setup.transfer(labels={"affiliate_id": str(_AFFILIATE), "native": _NATIVE})
    listing_setup.rail.send(transfer)
    changed = {"native": "EUR=500/1234@0.8@2026-13-45", "affiliate_id": "ann", "organization_id": ""}
    listing_setup.service.find_booking(transfer.key).metadata |= changed

    (listed,) = listing_setup.rail.list_since(_start_time())

    assert (listed.natives, listed.affiliate_id, listed.organization_id) == (None, None, None)


def test_partly_returned_transfer_is_listed_with_its_returned_amount(service):
    rail_setup = rail_setups.over_http(service, "ProcessorConnect")
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)
    service.find_booking(transfer.key).returned = 200

    (listed,) = rail_setup.rail.list_since(_start_time())

    assert (listed.state, listed.amount_cents, listed.returned_cents) == (TransferState.paid, 1234, 200)
