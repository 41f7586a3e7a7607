"""The payouts fleet is killed at every point of a payment: the payment service has each payment exactly once."""

from collections.abc import Sequence
from contextlib import ExitStack
from uuid import UUID

import pytest

from adapters import clock
from domain.payouts.transfers import idempotency_key
from models import db
from pipelines.payouts import decisions
from tests.adapters.rails.fake_processor import FakeProcessor
from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.payroll import Payroll

_SLUGS = ("ann", "cid", "dan", "eve")
_CENTS = 2_000


def _create_due_payouts(
    machine: Machine,
    shop: Shop,
    *,
    method: str = "ProcessorConnect",
    rail: str | None = None,
    slugs: Sequence[str] = _SLUGS,
) -> Payroll:
    """Create affiliates with 20.00 due each and a payout method, on the fake rails or in the sandbox."""
    with machine.use_models():
        payroll = Payroll(shop.brand)
        payroll.execute(
            "update organization set verification_state = 'verified', payout_grace_days = 0, sandbox_rail = %s", rail
        )
        for slug in slugs:
            payroll.affiliate(slug, method=method)
    for slug in slugs:
        shop.sell(affiliateSlug=slug)
    machine.wait_until_settled()
    return payroll


def _run_payouts(machine: Machine, payroll: Payroll) -> list[UUID]:
    with machine.use_models():
        receipt = payroll.run(len(payroll.affiliates) * _CENTS)
    return [payout.payout_id for payout in receipt.payouts]


def _blocking_statements(payroll: Payroll, payout_id: UUID) -> Sequence[str]:
    """Return locks that stop one payout before it is begun, and each other one before its result is stored."""
    return (
        f"select from payout where id = '{payout_id}' for update",
        f"select from conversion where organization_id = '{payroll.brand.id}' for update",
    )


def _check_all_paid(machine: Machine, payroll: Payroll) -> list[str]:
    """Assert that all payouts are Paid, with one event each; return their idempotency keys."""
    rows = machine.rows(
        "select p.id, p.attempt, p.status, p.amount_cents from payout p where p.organization_id = %s", payroll.brand.id
    )
    assert [row[2:] for row in rows] == [("Paid", _CENTS)] * len(payroll.affiliates)
    event_counts = machine.rows(
        "select count(*) from event where organization_id = %s and type = 'payout.paid'", payroll.brand.id
    )
    assert event_counts == [(len(payroll.affiliates),)]
    return sorted(idempotency_key(payout_id=payout_id, attempt=attempt) for payout_id, attempt, _, _ in rows)


@pytest.mark.parametrize("method", ["ProcessorConnect", "Wallet", "GlobalPayouts"])
def test_kill_9_around_the_call_pays_each_payout_once(
    machine: Machine, shop: Shop, processor: FakeProcessor, method: str
) -> None:
    # given: one payout not begun, one received and not executed, one executed, and one whose response is not stored yet
    payroll = _create_due_payouts(machine, shop, method=method)
    processor.set_faults("hang_before", "hang_after")
    with ExitStack() as locks:
        with machine.pause_queue("payouts"):
            first, *_ = _run_payouts(machine, payroll)
            locks.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(2)
        machine.wait_until(
            lambda: len(processor.books) >= 2 and not processor.faults, "the service has received three requests"
        )

        # when
        machine.kill("payouts")

    # then: the service responds to the repeated requests, to one with an error after it was executed
    processor.set_faults("500_after")
    machine.start("payouts")
    outcome.check(machine, shop)
    keys = _check_all_paid(machine, payroll)
    assert sorted(payment.key for payment in processor.books) == keys
    assert {payment.amount.replace(".", "") for payment in processor.books} == {str(_CENTS)}
    assert sorted(payment.account for payment in processor.books) == [f"acct_{slug}" for slug in _SLUGS]


def test_fleet_paused_within_a_call_does_not_pay_again(machine: Machine, shop: Shop, processor: FakeProcessor) -> None:
    # given: all four are dispatched to one fleet, and one has no response
    payroll = _create_due_payouts(machine, shop)
    machine.lengthen_leases()
    processor.set_faults("hang_before")
    with machine.pause_queue("payouts"):
        _run_payouts(machine, payroll)
    paid = "select count(*) from payout where organization_id = %s and status = 'Paid'"
    machine.wait_until(lambda: machine.rows(paid, shop.id) == [(3,)], "three are paid")

    # when: the fleet is paused until its lease ends, another one takes over, and it is resumed
    machine.pause("payouts")
    machine.end_leases(shop.id)
    machine.start("payouts-2")
    machine.wait_until(lambda: len(processor.books) == 4, "the other fleet sends the fourth")
    machine.wait_until_settled()
    machine.resume("payouts")

    # then
    outcome.check(machine, shop)
    assert sorted(payment.key for payment in processor.books) == _check_all_paid(machine, payroll)


def test_started_payouts_of_a_dead_fleet_wait_for_their_leases(
    machine: Machine, shop: Shop, processor: FakeProcessor
) -> None:
    # given: three payouts begun, one of them executed, and one not begun; with long leases
    payroll = _create_due_payouts(machine, shop)
    machine.lengthen_leases()
    processor.set_faults("hang_before", "hang_after", "hang_before")
    with ExitStack() as locks:
        with machine.pause_queue("payouts"):
            first, *_ = _run_payouts(machine, payroll)
            locks.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(1)
        machine.wait_until(
            lambda: len(processor.books) == 1 and not processor.faults, "the service has received three requests"
        )

        # when: their fleet is killed, and another one runs
        machine.kill("payouts")
    machine.start("payouts")

    # then: the one that was not begun is paid at once; the others wait until their leases end
    machine.wait_until(lambda: len(processor.books) == 2, "the payout that was not begun is paid")
    machine.wait_until(
        lambda: machine.rows("select count(*) from worker_process") == [(4,)], "the killed fleet is forgotten"
    )
    started = "select count(*) from job where organization_id = %s and name = 'payout.transfer' and attempt = 1"
    assert machine.rows(f"{started} and deadline > now()", shop.id) == [(3,)]

    # and from now on leases are short, so that jobs which are dispatched again may be lost, too
    machine.end_leases(shop.id)
    outcome.check(machine, shop)
    assert sorted(payment.key for payment in processor.books) == _check_all_paid(machine, payroll)


@pytest.mark.parametrize("mode", ["ok", "ambiguous", "slow"])
def test_kill_9_around_the_sandbox_pays_each_payout_once(machine: Machine, shop: Shop, mode: str) -> None:
    payroll = _create_due_payouts(machine, shop, rail=mode)
    with ExitStack() as locks:
        with machine.pause_queue("payouts"):
            first, *_ = _run_payouts(machine, payroll)
            locks.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(1 if mode != "ok" else 4)
        machine.kill("payouts")

    machine.start("payouts")
    outcome.check(machine, shop)
    transfers = machine.rows(
        "select key from sandbox_transfer where organization_id = %s and state in ('Paid', 'Accepted')", shop.id
    )
    assert sorted(key for (key,) in transfers) == _check_all_paid(machine, payroll)


def test_killed_retry_of_a_refused_payout_pays_once(machine: Machine, shop: Shop, processor: FakeProcessor) -> None:
    # given: every payout was sent once and refused
    payroll = _create_due_payouts(machine, shop)
    machine.lengthen_leases()
    processor.set_faults(*["reject"] * len(_SLUGS))
    payout_ids = _run_payouts(machine, payroll)
    machine.wait_until_settled()
    assert machine.rows("select distinct status from payout where organization_id = %s", shop.id) == [("Failed",)]

    # when: all are retried, and the fleet is killed after one was executed and before any response
    processor.set_faults("hang_after", "hang_before", "hang_before", "hang_before")
    with machine.use_models(), db.unit_of_work(shop.id):
        for payout_id in payout_ids:
            payout = decisions.lock(organization_id=shop.id, payout_id=payout_id)
            decisions.retry(payout, now=clock.now())
    machine.wait_until(lambda: not processor.faults, "the service has received all four requests")
    machine.kill("payouts")
    machine.start("payouts")
    machine.end_leases(shop.id)

    # then
    outcome.check(machine, shop)
    keys = _check_all_paid(machine, payroll)
    assert sorted(payment.key for payment in processor.books) == keys
    assert {key.rpartition(":")[2] for key in keys} == {"2"}


_BATCH_SLUGS = tuple(f"payee-{number}" for number in range(12))
# The other three threads send one payout each. So the thread with the batch gets at least one response before the
# service hangs, and still has payouts that it has not sent. Each hang takes as long as the timeout of a call.
_THREADS, _RESPONSES = 4, 4
_HANGS = ("hang_after", "cut_before", "cut_after", "cut_before")
_IN_BATCH = "select count(*) from job where organization_id = %s and taken_with is not null"


@pytest.fixture
def batch_payroll(machine: Machine, shop: Shop) -> Payroll:
    """Return twelve due payouts, and run a fleet with one job per thread, whose first thread batches the rest.

    Jobs that were dispatched before do not join a batch. So fleets of earlier tests are forgotten, lest jobs be
    dispatched to them, and leases are long, lest a lease end before a slow machine has begun a job.
    """
    payroll = _create_due_payouts(machine, shop, slugs=_BATCH_SLUGS)
    machine.lengthen_leases()
    machine.kill("relay", "payouts")
    machine.forget_killed_fleets()
    machine.start("relay", "payouts", variables={"JOB_SLOTS": "payouts=1"})
    return payroll


def _run_until_rail_hangs(machine: Machine, payroll: Payroll, processor: FakeProcessor) -> None:
    """Run payouts until the service has responded to some of a batch and hangs for the first time."""
    processor.set_faults(*[""] * _RESPONSES, *_HANGS)
    with machine.pause_queue("payouts"):
        _run_payouts(machine, payroll)
    batch_size = len(_BATCH_SLUGS) - _THREADS
    machine.wait_until(
        lambda: machine.rows(_IN_BATCH, payroll.brand.id)[0][0] >= batch_size, "all other payouts are in a batch"
    )
    machine.wait_until(lambda: len(processor.faults) < len(_HANGS), "the service hangs")


def test_kill_9_between_batch_calls_pays_each_payout_once(
    machine: Machine, shop: Shop, processor: FakeProcessor, batch_payroll: Payroll
) -> None:
    # given: some payouts are paid and not stored, one is executed without a response, some are not sent
    _run_until_rail_hangs(machine, batch_payroll, processor)

    # when
    machine.kill("payouts")
    machine.start("payouts")
    machine.end_leases(shop.id)

    # then
    outcome.check(machine, shop)
    assert sorted(payment.key for payment in processor.books) == _check_all_paid(machine, batch_payroll)


def test_batch_rest_is_sent_once_after_a_hanging_rail(
    machine: Machine, shop: Shop, processor: FakeProcessor, batch_payroll: Payroll
) -> None:
    # given
    _run_until_rail_hangs(machine, batch_payroll, processor)

    # then: although no lease ends, the rest of the batch is sent, and each payout is paid once
    machine.wait_until(lambda: machine.rows(_IN_BATCH, shop.id) == [(0,)], "the rest of the batch is dispatched again")
    outcome.check(machine, shop)
    assert sorted(payment.key for payment in processor.books) == _check_all_paid(machine, batch_payroll)
