"""Payouts that one worker asks its rail for one after another: each is paid once, whatever becomes of the others."""

import pytest

from adapters import clock
from domain import jobs
from domain.payouts.transfers import Rejected, Unknown
from models import db
from models.jobs import rows
from models.ledger import rules
from pipelines.payouts import decisions, transfer
from pipelines.payouts.sandbox_rail import SandboxRail
from tests.support.job_queues import drain, run_pointer
from tests.support.rows.payroll import Payroll
from workers.batching.batch_pauses import batch_pauses

_SLUGS = ("ann", "ben", "cyd", "dee", "eve")
_CENTS = 2_000


@pytest.fixture
def payroll(app):
    """Five payouts of 20.00 that are due, and all jobs but theirs done."""
    batch_pauses.clear()
    payroll = Payroll.create(app)
    for slug in _SLUGS:
        payroll.affiliate(slug)
        payroll.sell(slug)
    drain()
    payroll.run(len(_SLUGS) * _CENTS)
    return payroll


@pytest.fixture
def asked(monkeypatch):
    """What the rail was asked for, in order; `asked.answers` says what it answers in place of the sandbox's own.

    `asked.meanwhile` says what happens while it is asked, both by the number of the call.
    """

    class Asked(list):
        answers, meanwhile = {}, {}

    found, send = Asked(), SandboxRail.send

    def answering(rail, transfer):
        found.append(transfer.key)
        found.meanwhile.get(len(found), lambda: None)()
        answer = found.answers.get(len(found))
        return send(rail, transfer) if answer is None else answer

    monkeypatch.setattr(SandboxRail, "send", answering)
    return found


def _run_one_pointer():
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue=jobs.PAYOUT_TRANSFER.queue, per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def _told(payroll, kind):
    return payroll.brand.rows("select count(*) from event where type = %s", kind)[0][0]


def _attempts(payroll):
    return sorted(payroll.brand.rows("select state, asked from payout_attempt"))


def _left(payroll):
    return payroll.brand.rows("select max_attempts - attempt, deadline is null, run_at <= now() from job order by id")


def _is_sound(payroll):
    with db.unit_of_work(payroll.brand.id):
        return rules.find_exceptions(payroll.brand.id, limit=9) == []


def test_each_is_asked_for_once_and_booked_as_if_alone(payroll, asked):
    _run_one_pointer()

    assert len(set(asked)) == len(asked) == len(_SLUGS)
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert _attempts(payroll) == [("paid", 1)] * len(_SLUGS)
    assert {payroll.balance(slug)["USD"] for slug in _SLUGS} == {0}
    assert payroll.brand.rows("select distinct status, paid_cents from conversion") == [("Paid", _CENTS)]
    named = payroll.brand.rows("select count(distinct processor_transfer_id) from payout")
    assert named == [(len(_SLUGS),)]
    assert _told(payroll, "payout.paid") == len(_SLUGS)
    assert _left(payroll) == []
    assert _is_sound(payroll)


def test_a_refusal_touches_no_other(payroll, asked):
    asked.answers = {3: Rejected("no_such_account", "There is no such account.")}

    _run_one_pointer()

    assert sorted(payroll.payouts()) == [("Failed", _CENTS)] + [("Paid", _CENTS)] * 4
    assert (_told(payroll, "payout.paid"), _told(payroll, "payout.failed")) == (4, 1)
    assert sorted(payroll.balance(slug)["USD"] for slug in _SLUGS) == [0, 0, 0, 0, _CENTS]
    assert _is_sound(payroll)


def test_after_one_that_is_not_answered_the_rest_is_as_it_was_and_nobody_is_asked_for_it(payroll, asked):
    asked.answers = {3: Unknown("no response in time")}

    _run_one_pointer()

    assert len(asked) == 3
    assert sorted(payroll.payouts()) == [("Paid", _CENTS)] * 2 + [("Pending", _CENTS)] * 2 + [("Processing", _CENTS)]
    assert _attempts(payroll) == [("paid", 1), ("paid", 1), ("unknown", 1)]
    assert sorted(_left(payroll)) == [(50, True, False), *[(50, True, True)] * 2]
    assert payroll.brand.rows("select count(submitted_at) from payout where status = 'Pending'") == [(0,)]

    # when: what is due is asked for, and then what is in doubt
    drain()
    payroll.execute("update job set run_at = now()")
    drain()

    # then
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert len(set(asked)) == len(_SLUGS)


def _last(payroll):
    """Return the payout that a batch asks for last."""
    return payroll.brand.rows("select (args ->> 'payout_id')::uuid from job order by run_at, id")[-1][0]


@pytest.mark.parametrize("answer", [None, Unknown("no response in time")])
def test_what_another_job_has_set_out_to_ask_for_is_left_to_it(payroll, asked, answer):
    # given: while the first is asked for, a job of the last one is at work in another process
    payout_id, others = _last(payroll), []

    def set_out():
        with db.unit_of_work(payroll.brand.id):
            others.extend(transfer.prepare(organization_id=payroll.brand.id, payout_ids=[payout_id], now=clock.now()))

    asked.answers, asked.meanwhile = {1: answer}, {1: set_out}
    _run_one_pointer()

    # then: the batch neither asks for it nor takes it back
    (other,) = others
    assert other.transfer.key not in asked
    assert payroll.brand.rows("select status from payout where id = %s", payout_id) == [("Processing",)]
    assert payroll.brand.rows("select state from payout_attempt where payout_id = %s", payout_id) == [("unknown",)]
    assert payroll.brand.rows("select count(*) from payout where status = 'Processing'") == [(2 if answer else 1,)]

    # when: the other one is answered, and the rest is done
    said = transfer.call(other)
    with db.unit_of_work(payroll.brand.id):
        assert transfer.record([(other, said)], now=clock.now()) == [None]
    payroll.execute("update job set run_at = now()")
    drain()

    # then
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert asked.count(other.transfer.key) == 1
    assert _is_sound(payroll)


def test_what_an_operator_settles_meanwhile_is_not_asked_for(payroll, asked):
    payout_id = _last(payroll)

    def settle():
        with db.unit_of_work(payroll.brand.id):
            payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
            decisions.settle_by_hand(payout, paid_as=None, failed_because="stopped", now=clock.now())

    asked.meanwhile = {2: settle}
    _run_one_pointer()
    drain()

    assert sorted(payroll.payouts()) == [("Failed", _CENTS)] + [("Paid", _CENTS)] * 4
    assert len(set(asked)) == len(asked) == 4
    assert _is_sound(payroll)


def test_what_nothing_is_left_of_fails_and_the_others_are_paid(payroll, asked):
    payroll.execute("update payout set amount_cents = 0 where id = (select id from payout order by id limit 1)")

    _run_one_pointer()

    assert sorted(payroll.payouts()) == [("Failed", 0)] + [("Paid", _CENTS)] * 4
    assert len(asked) == 4


def test_what_has_to_wait_keeps_no_other_waiting(payroll, asked):
    payroll.execute("update payout set attempt = 2 where id = (select max(id::text)::uuid from payout)")
    (doubtful,) = payroll.brand.rows("select id from payout where attempt = 2")[0]
    payroll.execute(
        "insert into rail_event"
        ' (rail, event_id, organization_id, payout_id, answer, "references", outcome, received_at)'
        " values ('processor', %s, %s, %s, 'Paid', '{}', 'Contradicts', now())",
        f"evt_{doubtful}",
        payroll.brand.id,
        doubtful,
    )

    _run_one_pointer()
    drain()

    assert sorted(payroll.payouts()) == [("Paid", _CENTS)] * 4 + [("Pending", _CENTS)]
    assert len(asked) == 4
