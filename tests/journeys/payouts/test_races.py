"""Concurrent operations, each on its own connection: totals are exact, and no request fails with a server error.

Every race runs several times with several affiliates, to cover most interleavings.
"""

import itertools
from uuid import UUID

import pytest

from adapters import clock
from domain import jobs
from models import advisory_locks, db
from models.ledger import rules
from pipelines import work
from pipelines.affiliates import management
from pipelines.fraud import ban
from pipelines.payouts import decisions
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.payouts import URL, owner_session
from tests.support.job_queues import drain
from tests.support.rows.payroll import Payroll

_PEOPLE = ("ann", "ben", "cid", "dan")


@pytest.fixture
def payroll(app):
    payroll = Payroll.create(app)
    for slug in _PEOPLE:
        payroll.affiliate(slug)
    return payroll


_NUMBERS = itertools.count(1)


def _sell_for_all(payroll):
    """Record a sale of 100.00 for each affiliate; return external ids and conversion ids."""
    sales = [f"race-{next(_NUMBERS)}" for _ in _PEOPLE]
    return [(sale, payroll.sell(slug, 10_000, externalEventId=sale)) for slug, sale in zip(_PEOPLE, sales, strict=True)]


def _run(payroll, total):
    return lambda: owner_session(payroll).post(f"{URL}/run", {"confirmTotalCents": total})


def _refund(payroll, sale, cents=None):
    return lambda: payroll.brand.refund(sale, cents)


def _act(payroll, payout_id, what, body=None):
    return lambda: owner_session(payroll).post(f"{URL}/{payout_id}/{what}", body or {})


def _statuses(answers):
    return sorted(answer.status_code for answer in answers if hasattr(answer, "status_code"))


def _settle_all(payroll):
    """Process all jobs; return the total paid and the total that the ledger still owes."""
    payroll.brand.set(sandboxRail="ok")
    drain("sales", "refunds", "payouts")
    with db.unit_of_work(payroll.brand.id):
        assert rules.find_exceptions(payroll.brand.id, limit=5) == []
    paid = sum(cents for status, cents in payroll.payouts() if status == "Paid")
    (booked,) = payroll.brand.rows(
        "select coalesce(sum(amount_cents), 0)::int from sandbox_transfer where state = 'Paid'"
    )
    (manual,) = payroll.brand.rows("select coalesce(sum(amount_cents), 0)::int from payout where method = 'Manual'")
    assert booked[0] + manual[0] == paid
    return paid, sum(sum(payroll.balance(slug).values()) for slug in _PEOPLE)


def test_concurrent_identical_runs_pay_once(payroll):
    _sell_for_all(payroll)

    answers = run_concurrently(*[_run(payroll, 8_000)] * 10)

    assert _statuses(answers) == [200] + [409] * 9
    assert {answer.json["error"] for answer in answers if answer.status_code == 409} == {"confirm_total_mismatch"}
    assert _settle_all(payroll) == (8_000, 0)


def test_concurrent_runs_with_different_totals_pay_once(payroll):
    _sell_for_all(payroll)

    answers = run_concurrently(*[_run(payroll, total) for total in (8_000, 7_999, 8_000, 0, 8_001)])

    assert _statuses(answers) == [200, 409, 409, 409, 409]
    assert _settle_all(payroll) == (8_000, 0)


@pytest.mark.parametrize("round_", range(2))
def test_refund_during_a_run_is_excluded_or_deducted(payroll, round_):
    sales = _sell_for_all(payroll)

    answers = run_concurrently(_run(payroll, 8_000), *[_refund(payroll, sale, 5_000) for sale, _ in sales])

    assert set(_statuses(answers)) <= {200, 409}
    _settle_all(payroll)
    run_concurrently(_run(payroll, payroll.preview().planned.confirm_total_cents))
    assert _settle_all(payroll) == (4_000, 0)


@pytest.mark.parametrize("round_", range(2))
def test_refund_during_a_transfer_reduces_the_transfer_or_creates_a_debt(payroll, round_):
    sales = _sell_for_all(payroll)
    assert _run(payroll, 8_000)().status_code == 200

    answers = run_concurrently(
        lambda: drain("payouts"), lambda: drain("payouts"), *[_refund(payroll, sale, 5_000) for sale, _ in sales]
    )

    assert _statuses(answers) == [200] * 4
    paid, owed = _settle_all(payroll)
    assert paid + owed == 4_000
    assert sum(cents or 0 for (cents,) in payroll.lines("reversed_native_cents")) == -owed


@pytest.mark.parametrize("round_", range(2))
def test_denial_during_a_run_is_excluded_or_released(payroll, round_):
    sales = _sell_for_all(payroll)
    deny = [
        lambda conversion_id=conversion_id: owner_session(payroll).post(
            f"/api/conversions/{conversion_id}/deny", {"reason": "fraud"}
        )
        for _, conversion_id in sales[:2]
    ]

    answers = run_concurrently(_run(payroll, 8_000), *deny)

    assert set(_statuses(answers)) <= {200, 409}
    _settle_all(payroll)
    run_concurrently(_run(payroll, payroll.preview().planned.confirm_total_cents))
    paid, owed = _settle_all(payroll)
    assert (paid, owed) == (4_000, 0)


@pytest.mark.parametrize("round_", range(2))
def test_concurrent_retry_and_void_have_one_winner(payroll, round_):
    payroll.brand.set(sandboxRail="fail")
    _sell_for_all(payroll)
    _run(payroll, 8_000)()
    drain("payouts")
    failed = [payout_id for (payout_id,) in payroll.payouts("id")]

    answers = run_concurrently(*[_act(payroll, payout_id, what) for payout_id in failed for what in ("retry", "void")])

    assert _statuses(answers) == [200] * 4 + [409] * 4
    paid, owed = _settle_all(payroll)
    assert paid + owed == 8_000
    due = payroll.preview().planned.confirm_total_cents
    assert due == owed


@pytest.mark.parametrize("round_", range(2))
def test_payout_marked_paid_while_sent_is_paid_once(payroll, round_):
    _sell_for_all(payroll)
    _run(payroll, 8_000)()
    pending = [payout_id for (payout_id,) in payroll.payouts("id")]
    marks = [_act(payroll, payout_id, "mark-paid", {"externalTransactionId": "wire"}) for payout_id in pending]

    answers = run_concurrently(lambda: drain("payouts"), *marks)

    assert set(_statuses(answers)) <= {200, 409}
    assert _settle_all(payroll) == (8_000, 0)
    assert len(payroll.payouts("id")) == 4


def test_refund_waiting_for_a_run_does_not_block_sales(payroll):
    payroll.brand.sale(affiliateSlug="ann", amountCents=10_000, externalEventId="new")
    with db.unit_of_work(payroll.brand.id):
        advisory_locks.take_payout_run_lock(payroll.brand.id)
        join_refund = start_call(_refund(payroll, "new"))
        start_call(lambda: drain("sales"))
        settled = db.db.run("select count(*) from conversion")

    assert (settled, join_refund().status_code) == ([(1,)], 200)
    assert _settle_all(payroll) == (0, 0)


def test_two_jobs_of_one_payout_send_one_transfer(payroll):
    _sell_for_all(payroll)
    _run(payroll, 8_000)()
    with db.unit_of_work(payroll.brand.id):
        for (payout_id,) in db.db.run("select id from payout"):
            work.enqueue(jobs.PAYOUT_TRANSFER, organization_id=payroll.brand.id, payout_id=payout_id)

    run_concurrently(*[lambda: drain("payouts", deliveries=2)] * 3)

    assert _settle_all(payroll) == (8_000, 0)
    assert payroll.brand.rows("select count(*) from sandbox_transfer") == [(4,)]
    assert payroll.brand.rows("select count(*) from event where type = 'payout.paid'") == [(4,)]


@pytest.mark.parametrize("round_", range(2))
def test_import_undone_during_a_run_is_removed_or_paid(payroll, round_):
    rows = [build_past_sale(affiliateSlug=slug) for slug in _PEOPLE]
    imported = import_sales(payroll.brand, *rows, confirmUnpaidPayout=True)
    total = payroll.preview().planned.confirm_total_cents
    assert total == 8_000

    answers = run_concurrently(
        _run(payroll, total), lambda: payroll.brand.person("Admin").post(f"/api/imports/{imported.json['jobId']}/undo")
    )

    assert _statuses(answers) == [200, 409]
    paid, owed = _settle_all(payroll)
    assert (paid, owed) in ((8_000, 0), (0, 0))


def test_concurrent_review_and_ban_fail_each_payout_once(payroll):
    payroll.execute("update organization set payouts_need_review = true where id = %s", payroll.brand.id)
    _sell_for_all(payroll)
    run_id = UUID(_run(payroll, 8_000)().json["runId"])
    where = {"organization_id": payroll.brand.id}

    def reject():
        with db.unit_of_work(payroll.brand.id):
            decisions.decide_review(**where, run_id=run_id, is_approved=False, now=clock.now())

    def ban_dan():
        with db.unit_of_work(payroll.brand.id):
            dan = management.lock(**where, affiliate_id=payroll.affiliates["dan"])
            ban.ban(affiliate=dan, now=clock.now())

    run_concurrently(reject, ban_dan)

    assert payroll.payouts() == [("Failed", 2_000)] * 4
    assert payroll.brand.rows("select count(*) from event where type = 'payout.failed'") == [(4,)]
    assert _settle_all(payroll) == (0, 8_000)
