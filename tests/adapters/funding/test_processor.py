"""The payment processor as a funding source: one key is one charge or refund; unknown outcomes are not guessed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.funding.base import resolve
from adapters.funding.processor import ProcessorFunding
from adapters.rails.base import CannotList, KeyTaken, RailMisconfigured
from domain.deals.funding import REFERENCE, FundingCall, FundingKind, charge_key, refund_key
from domain.payouts.transfers import Accepted, NotFound, Paid, Rejected, Unknown
from models import ids
from tests.adapters.rails import fake_processor as fake

_YOUNG, _OLD = timedelta(), timedelta(days=2)


@pytest.fixture
def service():
    processor = fake.FakeProcessor()
    yield processor
    processor.stop()


@pytest.fixture
def source(service):
    return ProcessorFunding(url=service.url, key=fake.KEY)


def _charge(**changes):
    deal_id = ids.new_id()
    values = {
        "kind": FundingKind.charge,
        "key": charge_key(deal_id=deal_id, number=1),
        "organization_id": ids.new_id(),
        "deal_id": deal_id,
        "amount_cents": 52_500,
        "currency": "EUR",
        "source": "cus_N1k2/pm_1Q",
    }
    return FundingCall(**(values | changes))


def _refund(charge, reference, cents=20_000, **changes):
    key = refund_key(milestone_id=ids.new_id(), number=1)
    values = {"kind": FundingKind.refund, "key": key, "source": None, "charge_reference": reference}
    return replace(charge, amount_cents=cents, **(values | changes))


@pytest.fixture(params=["charge", "refund"])
def call(request, source):
    """A charge, and a refund of a charge that was carried out."""
    charge = _charge()
    if request.param == "charge":
        return charge
    return _refund(charge, source.ask(charge).references[REFERENCE])


def _bookings(service, call):
    return [(booking.key, booking.amount, booking.currency) for booking in service.books if booking.key == call.key]


def test_same_key_is_carried_out_once(service, source, call):
    first, again = source.ask(call), source.ask(call)

    assert isinstance(first, Paid)
    assert first == again == source.look_up(replace(call, known=first.references[REFERENCE])) == source.look_up(call)
    assert _bookings(service, call) == [(call.key, str(call.amount_cents), "eur")]


def test_charge_uses_the_given_customer_and_method(service, source):
    source.ask(_charge())
    source.ask(_charge(source="cus_other/pm_2"))

    assert [booking.account for booking in service.books] == ["cus_N1k2", "cus_other"]


@pytest.mark.parametrize("fault", ["500_before", "500_after", "cut_before", "cut_after", "hang_before", "hang_after"])
def test_lost_response_is_resolved_without_a_second_payment(service, source, call, fault):
    service.set_faults(fault)
    impatient = ProcessorFunding(url=service.url, key=fake.KEY, timeout_s=2)
    lost = (impatient if fault.startswith("hang") else source).ask(call)

    resolved = resolve(source, call, age=_YOUNG, books=source.books)

    assert isinstance(lost, Unknown)
    assert isinstance(resolved, Paid)
    assert len(_bookings(service, call)) == 1


def test_old_call_or_call_from_another_installation_is_not_retried(service, source, call):
    for age, books in ((_OLD, source.books), (_YOUNG, "others")):
        assert isinstance(resolve(source, call, age=age, books=books), NotFound)
    assert _bookings(service, call) == []


def test_rejected_call_is_not_carried_out(service, source, call):
    service.set_faults("reject")

    answer = source.ask(call)

    assert isinstance(answer, Rejected)
    assert (answer.code, _bookings(service, call)) == ("balance_insufficient", [])


def test_pending_call_settles_later(service, source, call):
    service.set_faults("pending")
    accepted = source.ask(call)
    accepted_call = replace(call, known=accepted.references[REFERENCE])

    pending = source.look_up(accepted_call)
    service.settle(call.key)

    assert isinstance(accepted, Accepted)
    assert isinstance(pending, Accepted)
    assert source.look_up(accepted_call) == Paid(accepted.references)


def test_charge_waiting_for_its_customer_is_accepted(service, source):
    call = _charge()
    source.ask(call)
    service.settle(call.key, "waiting")

    assert isinstance(source.look_up(call), Accepted)


def test_call_that_fails_later_is_rejected(service, source, call):
    service.set_faults("pending")
    source.ask(call)
    service.settle(call.key, "failed")

    assert isinstance(source.look_up(call), Rejected)


def test_key_used_for_another_amount_raises_key_taken(source, call):
    source.ask(call)
    other = replace(call, amount_cents=call.amount_cents + 1)

    for ask in (source.ask, source.look_up):
        with pytest.raises(KeyTaken):
            ask(other)


@pytest.mark.parametrize("fault", ["401", "403"])
def test_rejected_credentials_move_no_money(service, source, call, fault):
    service.set_faults(fault)

    with pytest.raises(RailMisconfigured):
        source.ask(call)
    assert _bookings(service, call) == []


@pytest.mark.parametrize("body", ["", "{}", "[]", "null", '{"id": null}', '{"id": "pi_'])
def test_unreadable_response_is_unknown(service, source, call, body):
    service.set_faults(f"say {body}")

    assert isinstance(source.ask(call), Unknown)
    assert isinstance(resolve(source, call, age=_YOUNG, books=source.books), Paid)
    assert len(_bookings(service, call)) == 1


def test_charge_is_found_among_many(service, source):
    charges = [_charge() for _ in range(5)]
    references = [source.ask(charge).references for charge in charges]

    assert [source.look_up(charge).references for charge in charges] == references


@pytest.mark.parametrize(
    ("currency", "cents", "units"),
    [("JPY", 1_200, "1200"), ("ISK", 1_200, "120000"), ("KWD", 12_340, "12340"), ("MGA", 12_300, "123")],
)
def test_amount_is_sent_in_the_processors_currency_units(service, source, currency, cents, units):
    charge = _charge(currency=currency, amount_cents=cents)

    answer = source.ask(charge)

    assert isinstance(answer, Paid)
    assert source.look_up(charge) == answer
    assert [(booking.amount, booking.currency) for booking in service.books] == [(units, currency.lower())]


def test_amount_the_processor_cannot_express_is_rejected(service, source):
    answer = source.ask(_charge(currency="MGA", amount_cents=12_345))

    assert isinstance(answer, Rejected)
    assert (answer.code, service.books) == ("amount_not_chargeable", [])


@pytest.mark.parametrize("cents", [0, -1, 1.5])
def test_amount_must_be_positive_and_whole(cents):
    with pytest.raises(ValueError, match="positive whole"):
        _charge(amount_cents=cents)


def test_charges_are_listed_over_all_pages_net_of_refunds(service, source):
    calls = [_charge(deal_id=(deal_id := ids.new_id()), key=charge_key(deal_id=deal_id, number=1)) for _ in range(5)]
    for call in calls:
        source.ask(call)
    early, failed, given_back, partly, whole = (service.find_booking(call.key) for call in calls)
    early.created -= 7_200
    failed.status = "failed"
    given_back.returned = int(given_back.amount)
    partly.returned = 1

    listed = {booking.deal_id: booking for booking in source.list_charges(datetime.now(UTC) - timedelta(hours=1))}

    assert {*listed} == {calls[3].deal_id, calls[4].deal_id}
    assert [listed[call.deal_id].amount_cents for call in calls[3:]] == [
        calls[3].amount_cents - 1,
        calls[4].amount_cents,
    ]
    assert listed[calls[4].deal_id].reference == whole.id


def test_interrupted_charge_list_raises_cannot_list(service, source):
    for _ in range(3):
        deal_id = ids.new_id()
        source.ask(_charge(deal_id=deal_id, key=charge_key(deal_id=deal_id, number=1)))
    service.page_fault = "500"

    with pytest.raises(CannotList):
        list(source.list_charges(datetime.now(UTC) - timedelta(hours=1)))
