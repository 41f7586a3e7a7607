"""A gateway's API is away for a day: what it tells is kept and tried again, and booked when the API is back."""

from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.till import Till

_WAITING = "select count(*) from job where organization_id = %s and deadline is null and run_at > now()"
_CUSTOMERS = {f"/v1/customers/cus_{number}" for number in range(3)}


def test_a_day_without_the_gateways_api_fails_no_event_and_loses_none(
    machine: Machine, till: Till, stage: StripeStage
) -> None:
    # given: payments of which only the customer's object says who sent them, and an API that fails in every way
    till.subscribe()
    sales = [till.pay(slug=None, customer=str(number), email=None) for number in range(3)]
    for path in _CUSTOMERS:
        stage.objects[path]["metadata"] = {"affiliate_slug": "ben"}
    stage.faults.extend(["fail", "busy", "cut", "html"] * 100)

    # when: every four hours they are tried again, and it is still away
    till.tell(*(sale.sent[0] for sale in sales))
    for _ in range(7):
        _until_tried(machine, till)
        assert till.events("type, status") == [("invoice.paid", "Received")] * 3
        stage.asked.clear()
        _four_hours_pass(machine, till)
    _until_tried(machine, till)

    # then
    assert machine.rows("select from job where organization_id = %s and failed_at is not null", till.id) == []
    stage.faults.clear()
    _four_hours_pass(machine, till)
    outcome.check(machine, till)
    assert till.events("status") == [("Processed",)] * 3


def _until_tried(machine: Machine, till: Till) -> None:
    def are_tried() -> bool:
        asked = {call.path for call in list(till.stage.asked)}
        return asked >= _CUSTOMERS and machine.rows(_WAITING, till.id) == [(3,)]

    machine.until(are_tried, "every event is tried and waits")


def _four_hours_pass(machine: Machine, till: Till) -> None:
    """Move what the service knows of the time: when the events came, and when they are tried again."""
    came = "update gateway_event set received_at = received_at - interval '4 hours' where organization_id = %s"
    machine.execute(came, str(till.id))
    machine.execute("update job set run_at = now() where organization_id = %s", str(till.id))
