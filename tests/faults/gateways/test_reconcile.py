"""A reconcile run over several pages of missed events is killed: it is resumed, and counts each event once."""

import threading
from datetime import datetime
from typing import Any

import pytest

from tests.support.gateways.stage import ApiCall
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

# Each has two events; a page has a hundred.
_SALES = 110


@pytest.fixture
def undelivered_shop(shop: GatewayShop) -> GatewayShop:
    """Return a shop whose gateway has delivered no notification."""
    for number in range(_SALES):
        sale = shop.pay(customer=str(number), email=f"{number}@example.com")
        if number % 10 == 0:
            shop.refund(sale, 4_000)
    return shop


def test_kill_9_during_a_page_request_is_recovered_within_20_seconds(
    machine: Machine, undelivered_shop: GatewayShop
) -> None:
    # given: a run that has stored one page and waits for the next
    machine.lengthen_leases()
    until_before = _reconciled_until(machine, undelivered_shop)
    is_requested = _hang_in_second_page(undelivered_shop)
    job_id = _start_reconcile(undelivered_shop)
    machine.wait_until(is_requested.is_set, "the second page is requested")
    assert len(undelivered_shop.events()) == 100

    # when
    machine.kill("gateways")
    undelivered_shop.stage.release_hung.set()
    machine.start("gateways")

    # then: the run is repeated, although its lease has not ended
    machine.wait_until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    assert _reconciled_until(machine, undelivered_shop) > until_before
    outcome.check(machine, undelivered_shop)
    assert len(undelivered_shop.events()) == 2 * _SALES + _SALES // 10


def test_kill_9_within_a_page_leaves_it_to_the_next_run(machine: Machine, undelivered_shop: GatewayShop) -> None:
    # given: a run that has listed a page, whose events and jobs are not committed
    until_before = _reconciled_until(machine, undelivered_shop)
    with machine.hold_locks("lock table gateway_event in share mode"):
        job_id = _start_reconcile(undelivered_shop)
        machine.wait_for_table_lock("gateway_event")

        # when
        machine.kill("gateways")
        machine.end_lock_waiters()
    assert (undelivered_shop.events(), _reconciled_until(machine, undelivered_shop)) == ([], until_before)

    # then
    machine.start("gateways")
    machine.wait_until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    assert _reconciled_until(machine, undelivered_shop) > until_before
    outcome.check(machine, undelivered_shop)


def _hang_in_second_page(shop: GatewayShop) -> threading.Event:
    """Make the gateway's next call for a later page hang until `release_hung`; return the event of that call."""
    answer, is_requested = shop.stage.answer, threading.Event()

    def hang(call: ApiCall) -> tuple[int, Any]:
        if "starting_after" in call.params and not is_requested.is_set():
            is_requested.set()
            shop.stage.release_hung.wait()
        return answer(call)

    shop.stage.answer = hang  # type: ignore[method-assign]
    return is_requested


def _start_reconcile(shop: GatewayShop) -> int:
    status, answer = shop.call_api("POST", f"/api/v1/connections/{shop.connection['id']}/reconcile")
    assert status == 202, answer
    return int(answer["jobId"])


def _reconciled_until(machine: Machine, shop: GatewayShop) -> datetime:
    ((until,),) = machine.rows("select reconciled_to from gateway_connection where organization_id = %s", shop.id)
    assert isinstance(until, datetime)
    return until
