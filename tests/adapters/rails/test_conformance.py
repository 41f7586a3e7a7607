"""Guarantees of every payout rail: one key is one transfer, and an unknown outcome is never guessed.

Source: tracking spec, "Event types and payloads" (payout.paid's references); core spec, "Payouts".
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters import clock
from adapters.rails.base import KeyTaken, RailMisconfigured, resolve
from domain.payouts.transfers import REFERENCES, Accepted, NotFound, Paid, Rejected, Unknown
from pipelines.payouts.sandbox_rail import SETTLES_AFTER, SandboxRail
from tests.adapters.rails import rail_setups

_GARBAGE = ['{"id": "tr_', "", "{}", "[]", "null", "7", '{"id": null}', '{"batch_header": 1}', "\0", "<html>"]
_YOUNG, _OLD = timedelta(), timedelta(days=4000)


def _send_and_settle(place, transfer):
    """Send a transfer and return its final answer, looked up like a worker does, with the references of the first."""
    answer = place.rail.send(transfer)
    if isinstance(answer, Accepted):
        answer = place.rail.look_up(replace(transfer, known=answer.references))
    return answer


def _expected_booking(place, transfer):
    return [(transfer.key, str(transfer.amount_cents), transfer.destination.account)]


def test_transfer_is_paid_once_with_the_references_of_its_method(rail_setup):
    transfer = rail_setup.transfer()

    answer = _send_and_settle(rail_setup, transfer)

    assert isinstance(answer, Paid)
    assert tuple(answer.references) == REFERENCES[rail_setup.method]
    assert all(answer.references.values())
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_same_key_again_is_the_same_transfer(rail_setup):
    transfer = rail_setup.transfer()

    assert _send_and_settle(rail_setup, transfer) == _send_and_settle(rail_setup, transfer)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_concurrent_sends_of_one_key_make_one_transfer(rail_setup):
    transfer = rail_setup.transfer()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: rail_setup.rail.send(transfer), range(6)))

    assert {type(answer) for answer in answers} <= {Paid, Accepted}
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_another_attempt_is_another_transfer(rail_setup):
    rail_setup.rail.send(rail_setup.transfer())
    rail_setup.rail.send(rail_setup.transfer(attempt=2))

    assert len(rail_setup.books()) == 2


@pytest.mark.parametrize("change", ["amount", "recipient"])
def test_key_used_for_another_transfer_moves_no_money(rail_setup, change):
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)
    other = (
        rail_setup.transfer(amount_cents=9999)
        if change == "amount"
        else rail_setup.transfer(account=rail_setups.OTHERS[rail_setup.method])
    )

    with pytest.raises(KeyTaken):
        rail_setup.rail.send(other)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


@pytest.mark.parametrize("change", ["amount", "recipient"])
def test_look_up_of_another_transfer_under_the_key_is_refused(rail_setup, change):
    transfer = rail_setup.transfer()
    answer = rail_setup.rail.send(transfer)
    other = {"amount_cents": 1235} if change == "amount" else {"account": rail_setups.OTHERS[rail_setup.method]}

    if rail_setup.method == "GlobalPayouts" and change == "recipient":
        other |= {"known": answer.references}  # it is searched among the recipient's payments
    if rail_setup.method == "Wallet":
        other |= {"known": answer.references}
    with pytest.raises(KeyTaken):
        rail_setup.rail.look_up(rail_setup.transfer(**other))


def test_look_up_rejects_another_attempts_reference(external_setup):
    first_answer = external_setup.rail.send(external_setup.transfer())
    external_setup.service.settle(external_setup.transfer().key, "returned")
    external_setup.rail.send(external_setup.transfer(attempt=2))

    with pytest.raises(KeyTaken):
        external_setup.rail.look_up(external_setup.transfer(attempt=2, known=first_answer.references))


def test_definitive_rejection_moves_no_money(rail_setup):
    rail_setup.misbehave("reject")
    transfer = rail_setup.transfer()

    answer = rail_setup.rail.send(transfer)

    assert isinstance(answer, Rejected)
    assert answer.code in ("balance_insufficient", "insufficient_funds", "sandbox_rejected")
    assert answer.message
    assert transfer.destination.account not in answer.message
    assert rail_setup.books() == []


def test_pending_transfer_is_accepted_and_paid_later(rail_setup, monkeypatch):
    rail_setup.misbehave("pending")
    transfer = rail_setup.transfer()
    if rail_setup.method == "ProcessorConnect" and rail_setup.service:
        pytest.skip("a transfer to a connected account is paid at once")

    answer = rail_setup.rail.send(transfer)

    assert isinstance(answer, Accepted)
    accepted_transfer = replace(transfer, known=answer.references)
    assert isinstance(rail_setup.rail.look_up(accepted_transfer), Accepted)
    if rail_setup.service:
        rail_setup.service.settle(transfer.key)
    else:
        rail_setup.rail = SandboxRail(method=rail_setup.method, mode="slow", now=clock.now() + SETTLES_AFTER)
    assert isinstance(rail_setup.rail.look_up(accepted_transfer), Paid)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_error_after_the_transfer_is_unknown_until_looked_up(rail_setup):
    rail_setup.misbehave("500_after")
    transfer = rail_setup.transfer()

    assert isinstance(rail_setup.rail.send(transfer), Unknown)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)
    assert isinstance(resolve(rail_setup.rail, transfer, age=_YOUNG), Paid)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_error_before_the_transfer_is_unknown_and_a_retry_pays_once(rail_setup):
    rail_setup.misbehave("500_before")
    transfer = rail_setup.transfer()

    assert isinstance(rail_setup.rail.send(transfer), Unknown)
    assert rail_setup.books() == []
    assert isinstance(resolve(rail_setup.rail, transfer, age=_YOUNG), Paid | Accepted)
    assert rail_setup.books() == _expected_booking(rail_setup, transfer)


def test_possibly_expired_key_is_never_sent_again(rail_setup):
    rail_setup.misbehave("500_before")
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)

    assert isinstance(resolve(rail_setup.rail, transfer, age=_OLD), NotFound | Unknown)
    assert rail_setup.books() == []


def test_look_up_moves_no_money(rail_setup):
    answer = rail_setup.rail.look_up(rail_setup.transfer())

    assert isinstance(answer, NotFound if rail_setup.rail.finds_by_key else Unknown)
    assert rail_setup.books() == []


@pytest.mark.parametrize("fault", ["500_before", "hang_before", "cut_before", "html_400", "429"])
def test_failure_before_the_transfer_is_unknown_and_not_booked(external_setup, fault):
    external_setup.misbehave(fault)
    transfer = external_setup.transfer()

    assert isinstance(external_setup.rail.send(transfer), Unknown)
    assert external_setup.books() == []
    assert isinstance(external_setup.rail.look_up(transfer), NotFound if external_setup.rail.finds_by_key else Unknown)
    assert isinstance(resolve(external_setup.rail, transfer, age=_YOUNG), Paid | Accepted)
    assert external_setup.books() == _expected_booking(external_setup, transfer)


@pytest.mark.parametrize("fault", ["500_after", "hang_after", "cut_after", *(f"say {text}" for text in _GARBAGE)])
def test_failure_after_the_transfer_is_unknown_and_booked(external_setup, fault):
    external_setup.misbehave(fault)
    transfer = external_setup.transfer()

    assert isinstance(external_setup.rail.send(transfer), Unknown)
    assert external_setup.books() == _expected_booking(external_setup, transfer)
    if external_setup.rail.finds_by_key:
        assert isinstance(external_setup.rail.look_up(transfer), Paid)
    assert isinstance(resolve(external_setup.rail, transfer, age=_YOUNG), Paid)
    assert external_setup.books() == _expected_booking(external_setup, transfer)


def test_transfer_is_found_after_the_rail_forgot_the_key(external_setup):
    external_setup.misbehave("500_after")
    transfer = external_setup.transfer()
    external_setup.rail.send(transfer)
    external_setup.service.expire_keys()

    answer = resolve(external_setup.rail, transfer, age=_OLD)

    assert isinstance(answer, Paid if external_setup.rail.finds_by_key else Unknown)
    assert external_setup.books() == _expected_booking(external_setup, transfer)


def test_slow_response_is_accepted(external_setup):
    external_setup.misbehave("slow")

    assert isinstance(external_setup.rail.send(external_setup.transfer()), Paid | Accepted)


@pytest.mark.parametrize("fault", ["401", "403"])
def test_rejected_credentials_raise_rail_misconfigured(external_setup, fault):
    external_setup.misbehave(fault)
    if external_setup.method == "Wallet" and fault == "401":
        external_setup.misbehave(fault)  # once for the cached token, once for a new one
    transfer = external_setup.transfer()

    with pytest.raises(RailMisconfigured, match=fault):
        external_setup.rail.send(transfer)
    assert external_setup.books() == []
    assert isinstance(_send_and_settle(external_setup, transfer), Paid)


def test_unreachable_rail_is_unknown(external_setup):
    external_setup.service.stop()

    assert isinstance(external_setup.rail.send(external_setup.transfer()), Unknown)


def test_returned_payment_is_rejected(external_setup):
    transfer = external_setup.transfer()
    first_answer = external_setup.rail.send(transfer)
    external_setup.service.settle(transfer.key, "returned")

    answer = external_setup.rail.look_up(replace(transfer, known=first_answer.references))

    assert isinstance(answer, Rejected)
    assert answer.code in ("reversed", "payout_method_closed", "returned")


@pytest.mark.parametrize("amount_cents", [1, 5, 10, 99, 100, 101, 123_456_789])
def test_amount_arrives_to_the_cent(external_setup, amount_cents):
    transfer = external_setup.transfer(amount_cents=amount_cents)

    assert isinstance(_send_and_settle(external_setup, transfer), Paid)
    (booking,) = external_setup.service.books
    assert booking.amount == (
        f"{amount_cents // 100}.{amount_cents % 100:02d}" if external_setup.method == "Wallet" else str(amount_cents)
    )
