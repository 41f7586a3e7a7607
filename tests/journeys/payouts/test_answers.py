"""Answers of rails in any order and number: a payout moves forward once and is looked up until then."""

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
def sent_payroll(payroll):
    """A brand with one payout of 20.00 that was sent to its rail and not answered yet."""
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


def _settle(payroll, answer, sent_payout=None):
    sent_payout = sent_payout or _payout(payroll)
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=sent_payout.id)
        return transfer.settle(payout, sent_payout.attempt, answer, now=clock.now())


def _list_events(payroll):
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
def test_answers_in_any_order_settle_a_payout_once(sent_payroll, answers, status):
    for answer in answers:
        _settle(sent_payroll, answer)

    assert sent_payroll.payouts() == [(status, 2_000)]
    assert (
        _list_events(sent_payroll)
        == {"Paid": [("payout.paid",)], "Failed": [("payout.failed",)], "Processing": []}[status]
    )
    assert sent_payroll.balance("ann") == {"USD": 0 if status == "Paid" else 2_000}


def test_answer_to_a_former_attempt_is_ignored(sent_payroll):
    first_attempt = _payout(sent_payroll)
    _settle(sent_payroll, _REJECTED)
    sent_payroll.execute("update payout set status = 'Processing', attempt = 2, failed_at = null")

    for late_answer in (_PAID, _REJECTED, _ACCEPTED):
        assert _settle(sent_payroll, late_answer, sent_payout=first_attempt) is False

    assert sent_payroll.payouts("status, attempt") == [("Processing", 2)]


def test_unanswered_payout_is_looked_up_at_the_configured_intervals(sent_payroll):
    after_s = settings.current().rails.ask_again_s
    waits_s = []
    for _ in range(len(after_s) + 2):
        prepared, now = _prepare(sent_payroll), clock.now()
        with db.unit_of_work(sent_payroll.brand.id):
            (next_at,) = transfer.record([(prepared, _UNKNOWN)], now=now)
        waits_s.append((next_at - now).total_seconds())

    assert waits_s == [*after_s, after_s[-1], after_s[-1]]
    assert sent_payroll.payouts() == [("Processing", 2_000)]


def test_attempt_age_does_not_depend_on_the_workers_clock(sent_payroll):
    ages = [_prepare(sent_payroll, ahead=timedelta(days=days)).age for days in (40, -40)]

    assert all(timedelta(0) <= age < timedelta(minutes=1) for age in ages)


def test_payout_on_hold_is_not_dispatched_early(payroll):
    payroll.execute("update organization set payout_hold_days = 3")
    payroll.sell("ann")
    payroll.run()

    (waits,) = payroll.brand.rows(
        "select run_at > now() + interval '2 days' from job where name = %s order by id desc limit 1",
        jobs.PAYOUT_TRANSFER.name,
    )

    assert waits == (True,)


def test_conversion_paid_while_invalidated_is_paid_when_validated(sent_payroll):
    # given: invalidated while it was sent, and paid
    _review(sent_payroll, Action.invalidate)
    _settle(sent_payroll, _PAID)
    assert sent_payroll.brand.rows("select status, paid_cents from conversion") == [("Invalidated", 2_000)]
    assert sent_payroll.balance("ann") == {"USD": -2_000}

    _review(sent_payroll, Action.validate)

    assert sent_payroll.brand.rows("select status, paid_cents from conversion") == [("Paid", 2_000)]
    assert sent_payroll.balance("ann") == {"USD": 0}
    assert sent_payroll.preview().planned.candidates == []


def test_conversion_validated_after_a_deduction_is_due_again(sent_payroll):
    # given: a pending payout deducts its amount
    _review(sent_payroll, Action.invalidate)
    _settle(sent_payroll, _PAID)
    sent_payroll.sell("ann", 50_000)
    sent_payroll.run(8_000)

    # when: it earns again, and then that payout is paid
    _review(sent_payroll, Action.validate)
    sent_payroll.brand.set(sandboxRail="ok")
    sent_payroll.pay()

    # then
    assert sent_payroll.brand.rows("select status, paid_cents from conversion where external_event_id = 'first'") == [
        ("Approved", 0)
    ]
    assert sent_payroll.preview().planned.native_totals == {"USD": 2_000}
    assert sent_payroll.balance("ann") == {"USD": 2_000}


def _review(payroll, action):
    ((conversion_id,),) = payroll.brand.rows("select id from conversion where external_event_id = 'first'")
    with db.unit_of_work(payroll.brand.id):
        subject = review.lock(organization_id=payroll.brand.id, conversion_id=conversion_id, now=clock.now())
        review.decide(subject, action=action, reason=None, now=clock.now())
