"""Payouts that a worker sends one after another: each is paid once, whatever happens to the others."""

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
    """A brand with five due payouts of 20.00, all other jobs done."""
    batch_pauses.clear()
    payroll = Payroll.create(app)
    for slug in _SLUGS:
        payroll.affiliate(slug)
        payroll.sell(slug)
    drain()
    payroll.run(len(_SLUGS) * _CENTS)
    return payroll


@pytest.fixture
def rail_calls(monkeypatch):
    """The keys sent to the rail, in order; `rail_calls.answers` replaces the sandbox's answers by call number,

    and `rail_calls.actions` are actions during a call, by call number.
    """

    class RailCalls(list):
        answers, actions = {}, {}

    calls, send = RailCalls(), SandboxRail.send

    def record_and_send(rail, transfer):
        calls.append(transfer.key)
        calls.actions.get(len(calls), lambda: None)()
        answer = calls.answers.get(len(calls))
        return send(rail, transfer) if answer is None else answer

    monkeypatch.setattr(SandboxRail, "send", record_and_send)
    return calls


def _run_one_pointer():
    with db.any_org_work():
        (pointer,) = rows.any_org_dispatch(queue=jobs.PAYOUT_TRANSFER.queue, per_thread=1, share=1, lease_s=30)
    run_pointer(pointer)


def _count_events(payroll, kind):
    return payroll.brand.rows("select count(*) from event where type = %s", kind)[0][0]


def _attempts(payroll):
    return sorted(payroll.brand.rows("select state, asked from payout_attempt"))


def _list_jobs(payroll):
    return payroll.brand.rows("select max_attempts - attempt, deadline is null, run_at <= now() from job order by id")


def _has_no_exceptions(payroll):
    with db.unit_of_work(payroll.brand.id):
        return rules.find_exceptions(payroll.brand.id, limit=9) == []


def test_each_payout_is_sent_once_and_booked_separately(payroll, rail_calls):
    _run_one_pointer()

    assert len(set(rail_calls)) == len(rail_calls) == len(_SLUGS)
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert _attempts(payroll) == [("paid", 1)] * len(_SLUGS)
    assert {payroll.balance(slug)["USD"] for slug in _SLUGS} == {0}
    assert payroll.brand.rows("select distinct status, paid_cents from conversion") == [("Paid", _CENTS)]
    transfer_ids = payroll.brand.rows("select count(distinct processor_transfer_id) from payout")
    assert transfer_ids == [(len(_SLUGS),)]
    assert _count_events(payroll, "payout.paid") == len(_SLUGS)
    assert _list_jobs(payroll) == []
    assert _has_no_exceptions(payroll)


def test_rejected_payout_does_not_affect_others(payroll, rail_calls):
    rail_calls.answers = {3: Rejected("no_such_account", "There is no such account.")}

    _run_one_pointer()

    assert sorted(payroll.payouts()) == [("Failed", _CENTS)] + [("Paid", _CENTS)] * 4
    assert (_count_events(payroll, "payout.paid"), _count_events(payroll, "payout.failed")) == (4, 1)
    assert sorted(payroll.balance(slug)["USD"] for slug in _SLUGS) == [0, 0, 0, 0, _CENTS]
    assert _has_no_exceptions(payroll)


def test_batch_stops_at_an_unanswered_payout(payroll, rail_calls):
    rail_calls.answers = {3: Unknown("no response in time")}

    _run_one_pointer()

    assert len(rail_calls) == 3
    assert sorted(payroll.payouts()) == [("Paid", _CENTS)] * 2 + [("Pending", _CENTS)] * 2 + [("Processing", _CENTS)]
    assert _attempts(payroll) == [("paid", 1), ("paid", 1), ("unknown", 1)]
    assert sorted(_list_jobs(payroll)) == [(50, True, False), *[(50, True, True)] * 2]
    assert payroll.brand.rows("select count(submitted_at) from payout where status = 'Pending'") == [(0,)]

    # when: due payouts are sent, then the uncertain one is looked up
    drain()
    payroll.execute("update job set run_at = now()")
    drain()

    # then
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert len(set(rail_calls)) == len(_SLUGS)


def _find_last_payout(payroll):
    """Return the last payout of a batch."""
    return payroll.brand.rows("select (args ->> 'payout_id')::uuid from job order by run_at, id")[-1][0]


@pytest.mark.parametrize("answer", [None, Unknown("no response in time")])
def test_payout_started_by_another_job_is_not_sent(payroll, rail_calls, answer):
    # given: during the first call, another process starts the job of the last payout
    payout_id, others = _find_last_payout(payroll), []

    def start_other_job():
        with db.unit_of_work(payroll.brand.id):
            others.extend(transfer.prepare(organization_id=payroll.brand.id, payout_ids=[payout_id], now=clock.now()))

    rail_calls.answers, rail_calls.actions = {1: answer}, {1: start_other_job}
    _run_one_pointer()

    # then: the batch neither sends it nor resets it
    (other,) = others
    assert other.transfer.key not in rail_calls
    assert payroll.brand.rows("select status from payout where id = %s", payout_id) == [("Processing",)]
    assert payroll.brand.rows("select state from payout_attempt where payout_id = %s", payout_id) == [("unknown",)]
    assert payroll.brand.rows("select count(*) from payout where status = 'Processing'") == [(2 if answer else 1,)]

    # when: the other process gets its answer, and the rest is processed
    answer_of_other = transfer.call(other)
    with db.unit_of_work(payroll.brand.id):
        assert transfer.record([(other, answer_of_other)], now=clock.now()) == [None]
    payroll.execute("update job set run_at = now()")
    drain()

    # then
    assert payroll.payouts() == [("Paid", _CENTS)] * len(_SLUGS)
    assert rail_calls.count(other.transfer.key) == 1
    assert _has_no_exceptions(payroll)


def test_payout_settled_by_an_operator_is_not_sent(payroll, rail_calls):
    payout_id = _find_last_payout(payroll)

    def settle():
        with db.unit_of_work(payroll.brand.id):
            payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
            decisions.settle_by_hand(payout, paid_as=None, failed_because="stopped", now=clock.now())

    rail_calls.actions = {2: settle}
    _run_one_pointer()
    drain()

    assert sorted(payroll.payouts()) == [("Failed", _CENTS)] + [("Paid", _CENTS)] * 4
    assert len(set(rail_calls)) == len(rail_calls) == 4
    assert _has_no_exceptions(payroll)


def test_payout_without_an_amount_fails_and_others_are_paid(payroll, rail_calls):
    payroll.execute("update payout set amount_cents = 0 where id = (select id from payout order by id limit 1)")

    _run_one_pointer()

    assert sorted(payroll.payouts()) == [("Failed", 0)] + [("Paid", _CENTS)] * 4
    assert len(rail_calls) == 4


def test_waiting_payout_does_not_delay_others(payroll, rail_calls):
    payroll.execute("update payout set attempt = 2 where id = (select max(id::text)::uuid from payout)")
    (contradicted,) = payroll.brand.rows("select id from payout where attempt = 2")[0]
    payroll.execute(
        "insert into rail_event"
        ' (rail, event_id, organization_id, payout_id, answer, "references", outcome, received_at)'
        " values ('processor', %s, %s, %s, 'Paid', '{}', 'Contradicts', now())",
        f"evt_{contradicted}",
        payroll.brand.id,
        contradicted,
    )

    _run_one_pointer()
    drain()

    assert sorted(payroll.payouts()) == [("Paid", _CENTS)] * 4 + [("Pending", _CENTS)]
    assert len(rail_calls) == 4
