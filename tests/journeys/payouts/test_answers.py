"""What rails answer, in any order and however often: a payout moves forward once, and is asked about until then."""

from datetime import timedelta

import pytest

import settings
from adapters import clock
from domain import jobs
from domain.conversions.review import Action
from domain.payouts.transfers import Accepted, Paid, Rejected, Unknown
from models import db
from models.payouts import payouts
from pipelines.conversions import review
from pipelines.payouts import decisions, transfer
from tests.support.rows.payroll import Payroll

_PAID = Paid({"processorTransferId": "tr_1"})
_ACCEPTED = Accepted({"processorTransferId": "tr_1"})
_REJECTED = Rejected("insufficient_funds", "Not enough money.")
_UNKNOWN = Unknown("no response in time")


@pytest.fixture
def payroll(app):
    payroll = Payroll.create(app, rail="slow")
    payroll.affiliate("ann")
    payroll.sell("ann", externalEventId="first")
    payroll.run()
    return payroll


@pytest.fixture
def sent(payroll):
    """One payout of 20.00 that its rail was asked for and has not answered."""
    _prepare(payroll)
    return payroll


def _prepare(payroll, *, ahead=timedelta(0)):
    payout_id = payroll.payouts("id")[0][0]
    with db.unit_of_work(payroll.brand.id):
        now = clock.now() + ahead
        return transfer.prepare(organization_id=payroll.brand.id, payout_ids=[payout_id], now=now)[0]


def _payout(payroll):
    (payout_id,) = payroll.brand.rows("select id from payout order by created_at")[0]
    with db.unit_of_work(payroll.brand.id):
        return payouts.find(organization_id=payroll.brand.id, payout_id=payout_id)


def _answer(payroll, answer, asked=None):
    asked = asked or _payout(payroll)
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=asked.id)
        return transfer.settle(payout, asked.attempt, answer, now=clock.now())


def _told(payroll):
    return payroll.brand.rows(
        "select type from event where type in ('payout.paid', 'payout.failed') order by created_at"
    )


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([_PAID, _PAID], "Paid"),
        ([_PAID, _ACCEPTED, _UNKNOWN], "Paid"),
        ([_PAID, _REJECTED], "Paid"),
        ([_UNKNOWN, _ACCEPTED, _UNKNOWN, _PAID, _PAID], "Paid"),
        ([_ACCEPTED, _REJECTED, _REJECTED], "Failed"),
        ([_REJECTED, _PAID], "Failed"),
        ([_UNKNOWN] * 3, "Processing"),
        ([_ACCEPTED, _ACCEPTED], "Processing"),
    ],
)
def test_answers_in_any_order_settle_a_payout_once(sent, answers, status):
    for answer in answers:
        _answer(sent, answer)

    assert sent.payouts() == [(status, 2_000)]
    assert _told(sent) == {"Paid": [("payout.paid",)], "Failed": [("payout.failed",)], "Processing": []}[status]
    assert sent.balance("ann") == {"USD": 0 if status == "Paid" else 2_000}


def test_an_answer_to_an_attempt_that_is_over_changes_nothing(sent):
    first = _payout(sent)
    _answer(sent, _REJECTED)
    sent.execute("update payout set status = 'Processing', attempt = 2, failed_at = null")

    for late in (_PAID, _REJECTED, _ACCEPTED):
        assert _answer(sent, late, asked=first) is False

    assert sent.payouts("status, attempt") == [("Processing", 2)]


def test_a_rail_that_never_says_is_asked_at_the_intervals_that_are_set(sent):
    after_s = settings.current().rails.ask_again_s
    waited = []
    for _ in range(len(after_s) + 2):
        prepared, now = _prepare(sent), clock.now()
        with db.unit_of_work(sent.brand.id):
            (again,) = transfer.record([(prepared, _UNKNOWN)], now=now)
        waited.append((again - now).total_seconds())

    assert waited == [*after_s, after_s[-1], after_s[-1]]
    assert sent.payouts() == [("Processing", 2_000)]


def test_how_old_an_attempt_is_does_not_depend_on_the_workers_clock(sent):
    ages = [_prepare(sent, ahead=timedelta(days=days)).age for days in (40, -40)]

    assert all(timedelta(0) <= age < timedelta(minutes=1) for age in ages)


def test_a_payout_on_hold_is_not_handed_out_early_whatever_clocks_say(payroll):
    payroll.execute("update organization set payout_hold_days = 3")
    payroll.sell("ann")
    payroll.run()

    (waits,) = payroll.brand.rows(
        "select run_at > now() + interval '2 days' from job where name = %s order by id desc limit 1",
        jobs.PAYOUT_TRANSFER.name,
    )

    assert waits == (True,)


def test_what_was_paid_while_it_earned_nothing_is_paid_when_it_earns_again(sent):
    # given: invalidated on its way, and paid
    _review(sent, Action.invalidate)
    _answer(sent, _PAID)
    assert sent.brand.rows("select status, paid_cents from conversion") == [("Invalidated", 2_000)]
    assert sent.balance("ann") == {"USD": -2_000}

    _review(sent, Action.validate)

    assert sent.brand.rows("select status, paid_cents from conversion") == [("Paid", 2_000)]
    assert sent.balance("ann") == {"USD": 0}
    assert sent.preview().planned.candidates == []


def test_what_was_held_back_before_it_earns_again_is_due_again(sent):
    # given: its money is held back by a payout that is still to be sent
    _review(sent, Action.invalidate)
    _answer(sent, _PAID)
    sent.sell("ann", 50_000)
    sent.run(8_000)

    # when: it earns again, and then that payout is paid
    _review(sent, Action.validate)
    sent.brand.set(sandboxRail="ok")
    sent.pay()

    # then
    assert sent.brand.rows("select status, paid_cents from conversion where external_event_id = 'first'") == [
        ("Approved", 0)
    ]
    assert sent.preview().planned.native_totals == {"USD": 2_000}
    assert sent.balance("ann") == {"USD": 2_000}


def _review(payroll, action):
    ((conversion_id,),) = payroll.brand.rows("select id from conversion where external_event_id = 'first'")
    with db.unit_of_work(payroll.brand.id):
        subject = review.lock(organization_id=payroll.brand.id, conversion_id=conversion_id, now=clock.now())
        review.decide(subject, action=action, reason=None, now=clock.now())
