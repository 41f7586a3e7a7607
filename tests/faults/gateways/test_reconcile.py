"""What was missed is listed over several pages, and whoever lists it dies: it is taken up again, and counted once."""

import threading
from datetime import datetime
from typing import Any

import pytest

from tests.support.gateways.stage import ApiCall
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

# Two events for each, a hundred of them on a page.
_SALES = 110


@pytest.fixture
def missed(till: GatewayShop) -> GatewayShop:
    """Return a till that was told of none of its sales."""
    for number in range(_SALES):
        sale = till.pay(customer=str(number), email=f"{number}@example.com")
        if number % 10 == 0:
            till.refund(sale, 4_000)
    return till


def test_kill_9_during_a_page_request_is_recovered_within_20_seconds(machine: Machine, missed: GatewayShop) -> None:
    # given: a run that has taken in one page and waits for the next
    machine.lengthen_leases()
    began = _good_until(machine, missed)
    is_asked_for = _hang_in_second_page(missed)
    job_id = _ask(missed)
    machine.wait_until(is_asked_for.is_set, "the second page is asked for")
    assert len(missed.events()) == 100

    # when
    machine.kill("gateways")
    missed.stage.release_hung.set()
    machine.start("gateways")

    # then: the run is done anew, though its lease is not over
    machine.wait_until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    assert _good_until(machine, missed) > began
    outcome.check(machine, missed)
    assert len(missed.events()) == 2 * _SALES + _SALES // 10


def test_kill_9_within_a_page_leaves_it_to_the_next_run(machine: Machine, missed: GatewayShop) -> None:
    # given: a run whose page is listed, and neither its events nor their jobs are committed
    began = _good_until(machine, missed)
    with machine.hold_locks("lock table gateway_event in share mode"):
        job_id = _ask(missed)
        machine.wait_for_table_lock("gateway_event")

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()
    assert (missed.events(), _good_until(machine, missed)) == ([], began)

    # then
    machine.start("gateways")
    machine.wait_until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    assert _good_until(machine, missed) > began
    outcome.check(machine, missed)


def _hang_in_second_page(till: GatewayShop) -> threading.Event:
    """Hold the gateway's next answer with a page after the first until it goes on; say when it is asked for one."""
    answer, is_asked_for = till.stage.answer, threading.Event()

    def held(asked: ApiCall) -> tuple[int, Any]:
        if "starting_after" in asked.params and not is_asked_for.is_set():
            is_asked_for.set()
            till.stage.release_hung.wait()
        return answer(asked)

    till.stage.answer = held  # type: ignore[method-assign]
    return is_asked_for


def _ask(till: GatewayShop) -> int:
    status, answer = till.call_api("POST", f"/api/v1/connections/{till.connection['id']}/reconcile")
    assert status == 202, answer
    return int(answer["jobId"])


def _good_until(machine: Machine, till: GatewayShop) -> datetime:
    ((until,),) = machine.rows("select reconciled_to from gateway_connection where organization_id = %s", till.id)
    assert isinstance(until, datetime)
    return until
