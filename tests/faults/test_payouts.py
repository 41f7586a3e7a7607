"""The fleet that pays is killed at every point of a payment: the payment service's own books show everybody once."""

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


def _due(
    machine: Machine,
    shop: Shop,
    *,
    method: str = "ProcessorConnect",
    rail: str | None = None,
    slugs: Sequence[str] = _SLUGS,
) -> Payroll:
    """Let affiliates earn 20.00 each and be paid on a method, on the machine's own rails or in the sandbox."""
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


def _run(machine: Machine, payroll: Payroll) -> list[UUID]:
    with machine.use_models():
        receipt = payroll.run(len(payroll.affiliates) * _CENTS)
    return [payout.payout_id for payout in receipt.payouts]


def _blocking_statements(payroll: Payroll, payout_id: UUID) -> Sequence[str]:
    """Stop one payout before anything is written of it, and every other one when its answer is about to be."""
    return (
        f"select from payout where id = '{payout_id}' for update",
        f"select from conversion where organization_id = '{payroll.brand.id}' for update",
    )


def _check_all_paid(machine: Machine, payroll: Payroll) -> list[str]:
    """Return the keys of the payouts, all of which must be Paid, with one event each."""
    rows = machine.rows(
        "select p.id, p.attempt, p.status, p.amount_cents from payout p where p.organization_id = %s", payroll.brand.id
    )
    assert [row[2:] for row in rows] == [("Paid", _CENTS)] * len(payroll.affiliates)
    told = machine.rows(
        "select count(*) from event where organization_id = %s and type = 'payout.paid'", payroll.brand.id
    )
    assert told == [(len(payroll.affiliates),)]
    return sorted(idempotency_key(payout_id=payout_id, attempt=attempt) for payout_id, attempt, _, _ in rows)


@pytest.mark.parametrize("method", ["ProcessorConnect", "Wallet", "GlobalPayouts"])
def test_kill_9_around_the_call_pays_each_payout_once(
    machine: Machine, shop: Shop, service: FakeProcessor, method: str
) -> None:
    # given: one that is not begun, one that came and was not carried out, one that was, one whose answer is in hand
    payroll = _due(machine, shop, method=method)
    service.set_faults("hang_before", "hang_after")
    with ExitStack() as held:
        with machine.paused_queue("payouts"):
            first, *_ = _run(machine, payroll)
            held.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(2)
        machine.wait_until(lambda: len(service.books) >= 2 and not service.faults, "the service has all three")

        # when
        machine.kill("payouts")

    # then: the service answers the repeats, one of them with an error after it was carried out
    service.set_faults("500_after")
    machine.start("payouts")
    outcome.check(machine, shop)
    keys = _check_all_paid(machine, payroll)
    assert sorted(booked.key for booked in service.books) == keys
    assert {booked.amount.replace(".", "") for booked in service.books} == {str(_CENTS)}
    assert sorted(booked.account for booked in service.books) == [f"acct_{slug}" for slug in _SLUGS]


def test_fleet_paused_within_a_call_does_not_pay_again(machine: Machine, shop: Shop, service: FakeProcessor) -> None:
    # given: all four in the hands of a fleet, one of them unanswered
    payroll = _due(machine, shop)
    machine.lengthen_leases()
    service.set_faults("hang_before")
    with machine.paused_queue("payouts"):
        _run(machine, payroll)
    paid = "select count(*) from payout where organization_id = %s and status = 'Paid'"
    machine.wait_until(lambda: machine.rows(paid, shop.id) == [(3,)], "three are paid")

    # when: it sleeps past its lease, another one does its work, and it wakes up
    machine.pause("payouts")
    machine.end_leases(shop.id)
    machine.start("payouts-2")
    machine.wait_until(lambda: len(service.books) == 4, "the other fleet asks for the fourth")
    machine.wait_until_settled()
    machine.resume("payouts")

    # then
    outcome.check(machine, shop)
    assert sorted(booked.key for booked in service.books) == _check_all_paid(machine, payroll)


def test_silent_fleet_restarts_no_started_payout(machine: Machine, shop: Shop, service: FakeProcessor) -> None:
    # given: three that were begun, one of them carried out, and one that was not; with a lease that is far off
    payroll = _due(machine, shop)
    machine.lengthen_leases()
    service.set_faults("hang_before", "hang_after", "hang_before")
    with ExitStack() as held:
        with machine.paused_queue("payouts"):
            first, *_ = _run(machine, payroll)
            held.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(1)
        machine.wait_until(lambda: len(service.books) == 1 and not service.faults, "the service has three")

        # when: their fleet dies, and another is there
        machine.kill("payouts")
    machine.start("payouts")

    # then: the one that was not begun is paid at once; the others are nobody's until their leases end
    machine.wait_until(lambda: len(service.books) == 2, "the one is paid")
    machine.wait_until(
        lambda: machine.rows("select count(*) from worker_process") == [(4,)], "the dead one is forgotten"
    )
    begun = "select count(*) from job where organization_id = %s and name = 'payout.transfer' and attempt = 1"
    assert machine.rows(f"{begun} and deadline > now()", shop.id) == [(3,)]

    # and from here on leases end: what is handed out anew may be lost as well
    machine.end_leases(shop.id)
    outcome.check(machine, shop)
    assert sorted(booked.key for booked in service.books) == _check_all_paid(machine, payroll)


@pytest.mark.parametrize("mode", ["ok", "ambiguous", "slow"])
def test_kill_9_around_the_sandbox_pays_each_payout_once(machine: Machine, shop: Shop, mode: str) -> None:
    payroll = _due(machine, shop, rail=mode)
    with ExitStack() as held:
        with machine.paused_queue("payouts"):
            first, *_ = _run(machine, payroll)
            held.enter_context(machine.hold_locks(*_blocking_statements(payroll, first)))
        machine.wait_for_lock_waiters(1 if mode != "ok" else 4)
        machine.kill("payouts")

    machine.start("payouts")
    outcome.check(machine, shop)
    booked = machine.rows(
        "select key from sandbox_transfer where organization_id = %s and state in ('Paid', 'Accepted')", shop.id
    )
    assert sorted(key for (key,) in booked) == _check_all_paid(machine, payroll)


def test_killed_retry_of_a_refused_payout_pays_once(machine: Machine, shop: Shop, service: FakeProcessor) -> None:
    # given: everything was refused, and each was asked for once
    payroll = _due(machine, shop)
    machine.lengthen_leases()
    service.set_faults(*["reject"] * len(_SLUGS))
    payout_ids = _run(machine, payroll)
    machine.wait_until_settled()
    assert machine.rows("select distinct status from payout where organization_id = %s", shop.id) == [("Failed",)]

    # when: all are sent again, and the fleet dies with one carried out and none answered
    service.set_faults("hang_after", "hang_before", "hang_before", "hang_before")
    with machine.use_models(), db.unit_of_work(shop.id):
        for payout_id in payout_ids:
            payout = decisions.lock(organization_id=shop.id, payout_id=payout_id)
            decisions.retry(payout, now=clock.now())
    machine.wait_until(lambda: not service.faults, "the service has all four")
    machine.kill("payouts")
    machine.start("payouts")
    machine.end_leases(shop.id)

    # then
    outcome.check(machine, shop)
    keys = _check_all_paid(machine, payroll)
    assert sorted(booked.key for booked in service.books) == keys
    assert {key.rpartition(":")[2] for key in keys} == {"2"}


_MANY = tuple(f"payee-{number}" for number in range(12))
# The other three threads ask for one payout each; so the one with a batch is answered once at least, then meets a
# service that hangs, and has some left that nobody was asked for. A hang costs as long as a call may take.
_THREADS, _GOOD = 4, 4
_HANGS = ("hang_after", "cut_before", "cut_after", "cut_before")
_TAKEN_ALONG = "select count(*) from job where organization_id = %s and taken_with is not null"


@pytest.fixture
def machine_behind_proxy(machine: Machine, shop: Shop) -> Payroll:
    """Twelve are to be paid by a fleet that is handed one payout a thread, and whose first thread takes all others.

    What was handed out once is in no batch. So nothing is promised to fleets of earlier tests, which are thought to be
    alive for a while, and no lease ends of what a slow machine has not begun yet.
    """
    payroll = _due(machine, shop, slugs=_MANY)
    machine.lengthen_leases()
    machine.kill("relay", "payouts")
    machine.forget_killed_fleets()
    machine.start("relay", "payouts", variables={"JOB_SLOTS": "payouts=1"})
    return payroll


def _begin(machine: Machine, payroll: Payroll, service: FakeProcessor) -> None:
    """Run until the service has answered some of a batch and hangs for the first time."""
    service.set_faults(*[""] * _GOOD, *_HANGS)
    with machine.paused_queue("payouts"):
        _run(machine, payroll)
    taken_along = len(_MANY) - _THREADS
    machine.wait_until(
        lambda: machine.rows(_TAKEN_ALONG, payroll.brand.id)[0][0] >= taken_along, "all others are in a batch"
    )
    machine.wait_until(lambda: len(service.faults) < len(_HANGS), "the service hangs")


def test_kill_9_between_batch_calls_pays_each_payout_once(
    machine: Machine, shop: Shop, service: FakeProcessor, machine_behind_proxy: Payroll
) -> None:
    # given: some are paid and not recorded, one is carried out and not answered, some are not asked for
    _begin(machine, machine_behind_proxy, service)

    # when
    machine.kill("payouts")
    machine.start("payouts")
    machine.end_leases(shop.id)

    # then
    outcome.check(machine, shop)
    assert sorted(booked.key for booked in service.books) == _check_all_paid(machine, machine_behind_proxy)


def test_batch_rest_is_sent_once_after_a_hanging_rail(
    machine: Machine, shop: Shop, service: FakeProcessor, machine_behind_proxy: Payroll
) -> None:
    # given
    _begin(machine, machine_behind_proxy, service)

    # then: though no lease ends, what was not asked for is asked for, and everybody is paid once
    machine.wait_until(lambda: machine.rows(_TAKEN_ALONG, shop.id) == [(0,)], "what was not asked for is given back")
    outcome.check(machine, shop)
    assert sorted(booked.key for booked in service.books) == _check_all_paid(machine, machine_behind_proxy)
