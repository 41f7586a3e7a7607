"""A refund that waits for its sale is played again while its sale wakes it: neither waits for the other for ever."""

from tests.support.installation import outcome
from tests.support.installation.ground import PATIENT_FLEET
from tests.support.installation.machine import Machine
from tests.support.installation.till import Till

_FAILED = ("finderfee_job_attempts_total", 'outcome="failed"')


def test_a_parked_refund_is_played_again_while_its_sale_wakes_it(machine: Machine, till: Till) -> None:
    machine.stop("gateways")
    machine.start("gateways", told=PATIENT_FLEET)

    # given: a refund that waits, and what wakes it in the middle of being booked, holding the locks of both
    till.subscribe()
    sale = till.pay()
    till.tell(sale.sent[0], *till.give_back(sale, 4_000))
    machine.until(lambda: till.events("status") == [("Processed",), ("Parked",)], "the refund waits")
    ((event_id,),) = till.events("id::text")[1:]
    failed = machine.counted(*_FAILED)
    with machine.holding("lock table gateway_alias in share mode"):
        till.tell(sale.sent[1])
        machine.until_locked_out("gateway_alias")

        # when: the job that plays it again has begun as well
        status, _ = till.asked("POST", f"/api/v1/connections/{till.connection['id']}/events/{event_id}/replay")
        machine.until_waiting(2)

    # then
    assert status == 202
    outcome.check(machine, till)
    assert machine.counted(*_FAILED) == failed
    assert till.events("status") == [("Processed",)] * 3
