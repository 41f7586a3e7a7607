"""What was missed is listed over several pages, and whoever lists it dies: it is taken up again, and counted once."""

import time
from datetime import datetime

import pytest

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.till import Till

# As long as a reconcile's lease is: it does not end while the test runs.
_LONG_LEASE = {"JOB_LEASE_S": "900"}
# What is asked of 95 in 100 jobs is 20 s from the end of their fleet; a busy machine may take twice that, besides what
# another fleet takes to start there.
_WITHIN_S = 40
# Two events for each, a hundred of them on a page.
_SALES = 110


@pytest.fixture
def missed(till: Till) -> Till:
    """Return a till that was told of none of its sales."""
    for number in range(_SALES):
        sale = till.pay(customer=str(number), email=f"{number}@example.com")
        if number % 10 == 0:
            till.give_back(sale, 4_000)
    return till


def test_kill_9_while_a_page_is_asked_for_is_made_up_for_within_20_seconds(machine: Machine, missed: Till) -> None:
    # given: a run that has taken in one page and waits for the next
    machine.kill("relay", "gateways")
    machine.start("relay", "gateways", told=_LONG_LEASE)
    stage = missed.stage
    began = _good_until(machine, missed)
    stage.faults.extend(["", "hang"])
    job_id = _ask(missed)
    machine.until(lambda: not stage.faults, "the second page is asked for")
    assert len(missed.events()) == 100

    # when
    machine.kill("gateways")
    stage.goes_on.set()
    machine.start("gateways", told=_LONG_LEASE)
    started_at = time.monotonic()

    # then: the run is done anew long before its lease is over
    machine.until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    machine.note(f"done after {time.monotonic() - started_at:.1f} s")
    assert time.monotonic() - started_at < _WITHIN_S
    assert _good_until(machine, missed) > began
    outcome.check(machine, missed)
    assert len(missed.events()) == 2 * _SALES + _SALES // 10


def test_kill_9_in_the_middle_of_a_page_takes_nothing_of_it_and_the_next_run_all(
    machine: Machine, missed: Till
) -> None:
    # given: a run whose page is listed, and neither its events nor their jobs are committed
    began = _good_until(machine, missed)
    with machine.holding("lock table gateway_event in share mode"):
        job_id = _ask(missed)
        machine.until_waiting(1, about="gateway_event")

        # when
        machine.kill("gateways")
        machine.end_waiting()
    assert (missed.events(), _good_until(machine, missed)) == ([], began)

    # then
    machine.start("gateways")
    machine.until(lambda: not machine.rows("select from job where id = %s", job_id), "the run is done")
    assert _good_until(machine, missed) > began
    outcome.check(machine, missed)


def _ask(till: Till) -> int:
    status, answer = till.asked("POST", f"/api/v1/connections/{till.connection['id']}/reconcile")
    assert status == 202, answer
    return int(answer["jobId"])


def _good_until(machine: Machine, till: Till) -> datetime:
    ((until,),) = machine.rows("select reconciled_to from gateway_connection where organization_id = %s", till.id)
    assert isinstance(until, datetime)
    return until
