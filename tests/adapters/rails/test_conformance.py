"""What every payout rail must hold: one key is one transfer, and what is not known is not guessed.

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
from tests.adapters.rails import places

_GARBAGE = ['{"id": "tr_', "", "{}", "[]", "null", "7", '{"id": null}', '{"batch_header": 1}', "\0", "<html>"]
_YOUNG, _OLD = timedelta(), timedelta(days=4000)


def _settled(place, transfer):
    """Return what the rail says in the end, the way a worker asks: with what it said before."""
    answer = place.rail.send(transfer)
    if isinstance(answer, Accepted):
        answer = place.rail.look_up(replace(transfer, known=answer.references))
    return answer


def _one(place, transfer):
    return [(transfer.key, str(transfer.amount_cents), transfer.destination.account)]


def test_a_transfer_is_paid_once_with_the_references_of_its_method(place):
    transfer = place.transfer()

    answer = _settled(place, transfer)

    assert isinstance(answer, Paid)
    assert tuple(answer.references) == REFERENCES[place.method]
    assert all(answer.references.values())
    assert place.books() == _one(place, transfer)


def test_the_same_key_again_is_the_same_transfer(place):
    transfer = place.transfer()

    assert _settled(place, transfer) == _settled(place, transfer)
    assert place.books() == _one(place, transfer)


def test_the_same_key_many_times_at_once_is_one_transfer(place):
    transfer = place.transfer()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: place.rail.send(transfer), range(6)))

    assert {type(answer) for answer in answers} <= {Paid, Accepted}
    assert place.books() == _one(place, transfer)


def test_another_attempt_is_another_transfer(place):
    place.rail.send(place.transfer())
    place.rail.send(place.transfer(attempt=2))

    assert len(place.books()) == 2


@pytest.mark.parametrize("change", ["amount", "recipient"])
def test_a_key_for_something_else_is_refused_and_moves_nothing(place, change):
    transfer = place.transfer()
    place.rail.send(transfer)
    other = (
        place.transfer(amount_cents=9999) if change == "amount" else place.transfer(account=places.OTHERS[place.method])
    )

    with pytest.raises(KeyTaken):
        place.rail.send(other)
    assert place.books() == _one(place, transfer)


@pytest.mark.parametrize("change", ["amount", "recipient"])
def test_a_look_up_that_finds_something_else_under_the_key_is_refused(place, change):
    transfer = place.transfer()
    sent = place.rail.send(transfer)
    other = {"amount_cents": 1235} if change == "amount" else {"account": places.OTHERS[place.method]}

    if place.method == "GlobalPayouts" and change == "recipient":
        other |= {"known": sent.references}  # it is looked for among the recipient's
    if place.method == "Wallet":
        other |= {"known": sent.references}
    with pytest.raises(KeyTaken):
        place.rail.look_up(place.transfer(**other))


def test_a_look_up_does_not_take_another_attempt_for_this_one(outside):
    first = outside.rail.send(outside.transfer())
    outside.service.settle(outside.transfer().key, "returned")
    outside.rail.send(outside.transfer(attempt=2))

    with pytest.raises(KeyTaken):
        outside.rail.look_up(outside.transfer(attempt=2, known=first.references))


def test_a_definitive_rejection_moves_nothing(place):
    place.misbehave("reject")
    transfer = place.transfer()

    answer = place.rail.send(transfer)

    assert isinstance(answer, Rejected)
    assert answer.code in ("balance_insufficient", "insufficient_funds", "sandbox_rejected")
    assert answer.message
    assert transfer.destination.account not in answer.message
    assert place.books() == []


def test_what_is_taken_and_not_settled_is_accepted_and_paid_later(place, monkeypatch):
    place.misbehave("pending")
    transfer = place.transfer()
    if place.method == "ProcessorConnect" and place.service:
        pytest.skip("a transfer to a connected account is paid at once")

    answer = place.rail.send(transfer)

    assert isinstance(answer, Accepted)
    known = replace(transfer, known=answer.references)
    assert isinstance(place.rail.look_up(known), Accepted)
    if place.service:
        place.service.settle(transfer.key)
    else:
        place.rail = SandboxRail(method=place.method, mode="slow", now=clock.now() + SETTLES_AFTER)
    assert isinstance(place.rail.look_up(known), Paid)
    assert place.books() == _one(place, transfer)


def test_an_error_after_the_transfer_is_unknown_until_the_rail_is_asked(place):
    place.misbehave("500_after")
    transfer = place.transfer()

    assert isinstance(place.rail.send(transfer), Unknown)
    assert place.books() == _one(place, transfer)
    assert isinstance(resolve(place.rail, transfer, age=_YOUNG), Paid)
    assert place.books() == _one(place, transfer)


def test_an_error_before_the_transfer_is_unknown_and_the_same_key_then_pays_once(place):
    place.misbehave("500_before")
    transfer = place.transfer()

    assert isinstance(place.rail.send(transfer), Unknown)
    assert place.books() == []
    assert isinstance(resolve(place.rail, transfer, age=_YOUNG), Paid | Accepted)
    assert place.books() == _one(place, transfer)


def test_a_key_that_the_rail_may_have_forgotten_is_never_sent_again(place):
    place.misbehave("500_before")
    transfer = place.transfer()
    place.rail.send(transfer)

    assert isinstance(resolve(place.rail, transfer, age=_OLD), NotFound | Unknown)
    assert place.books() == []


def test_a_look_up_moves_nothing(place):
    answer = place.rail.look_up(place.transfer())

    assert isinstance(answer, NotFound if place.rail.finds_by_key else Unknown)
    assert place.books() == []


@pytest.mark.parametrize("fault", ["500_before", "hang_before", "cut_before", "html_400", "429"])
def test_a_failure_before_the_transfer_is_unknown_and_not_in_the_books(outside, fault):
    outside.misbehave(fault)
    transfer = outside.transfer()

    assert isinstance(outside.rail.send(transfer), Unknown)
    assert outside.books() == []
    assert isinstance(outside.rail.look_up(transfer), NotFound if outside.rail.finds_by_key else Unknown)
    assert isinstance(resolve(outside.rail, transfer, age=_YOUNG), Paid | Accepted)
    assert outside.books() == _one(outside, transfer)


@pytest.mark.parametrize("fault", ["500_after", "hang_after", "cut_after", *(f"say {text}" for text in _GARBAGE)])
def test_a_failure_after_the_transfer_is_unknown_and_found_in_the_books(outside, fault):
    outside.misbehave(fault)
    transfer = outside.transfer()

    assert isinstance(outside.rail.send(transfer), Unknown)
    assert outside.books() == _one(outside, transfer)
    if outside.rail.finds_by_key:
        assert isinstance(outside.rail.look_up(transfer), Paid)
    assert isinstance(resolve(outside.rail, transfer, age=_YOUNG), Paid)
    assert outside.books() == _one(outside, transfer)


def test_a_transfer_is_found_when_the_rail_has_forgotten_the_key(outside):
    outside.misbehave("500_after")
    transfer = outside.transfer()
    outside.rail.send(transfer)
    outside.service.expire_keys()

    answer = resolve(outside.rail, transfer, age=_OLD)

    assert isinstance(answer, Paid if outside.rail.finds_by_key else Unknown)
    assert outside.books() == _one(outside, transfer)


def test_a_slow_answer_is_an_answer(outside):
    outside.misbehave("slow")

    assert isinstance(outside.rail.send(outside.transfer()), Paid | Accepted)


@pytest.mark.parametrize("fault", ["401", "403"])
def test_credentials_that_are_refused_are_the_operators_to_mend(outside, fault):
    outside.misbehave(fault)
    if outside.method == "Wallet" and fault == "401":
        outside.misbehave(fault)  # once with the token it had, once with a new one
    transfer = outside.transfer()

    with pytest.raises(RailMisconfigured, match=fault):
        outside.rail.send(transfer)
    assert outside.books() == []
    assert isinstance(_settled(outside, transfer), Paid)


def test_nobody_there_is_unknown(outside):
    outside.service.stop()

    assert isinstance(outside.rail.send(outside.transfer()), Unknown)


def test_a_payment_that_came_back_is_rejected(outside):
    transfer = outside.transfer()
    sent = outside.rail.send(transfer)
    outside.service.settle(transfer.key, "returned")

    answer = outside.rail.look_up(replace(transfer, known=sent.references))

    assert isinstance(answer, Rejected)
    assert answer.code in ("reversed", "payout_method_closed", "returned")


@pytest.mark.parametrize("amount_cents", [1, 5, 10, 99, 100, 101, 123_456_789])
def test_the_amount_arrives_to_the_cent(outside, amount_cents):
    transfer = outside.transfer(amount_cents=amount_cents)

    assert isinstance(_settled(outside, transfer), Paid)
    (booked,) = outside.service.books
    assert booked.amount == (
        f"{amount_cents // 100}.{amount_cents % 100:02d}" if outside.method == "Wallet" else str(amount_cents)
    )
