"""A gateway's API is away, or hangs: what it tells is kept and tried again, and holds up nobody else."""

from contextlib import closing

from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_WAITING = "select count(*) from job where organization_id = %s and deadline is null and run_at > now()"
_OUT = "select count(*) from job where organization_id = %s and queue = 'gateways' and deadline > now()"
_HANDED_OUT = ("finderfee_jobs_handed_out_total", 'queue="gateways"')
_CUSTOMERS = {f"/v1/customers/cus_{number}" for number in range(3)}


def test_day_without_gateway_api_loses_no_event(machine: Machine, till: GatewayShop, stage: StripeStage) -> None:
    # given: payments of which only the customer's object says who sent them, and an API that fails in every way
    till.subscribe()
    sales = [till.pay(slug=None, customer=str(number), email=None) for number in range(3)]
    for path in _CUSTOMERS:
        stage.objects[path]["metadata"] = {"affiliate_slug": "ben"}
    stage.faults.extend(["fail", "busy", "cut", "html"] * 100)

    # when: every four hours they are tried again, and it is still away
    till.deliver(*(sale.notifications[0] for sale in sales))
    for _ in range(7):
        _until_tried(machine, till)
        assert till.events("type, status") == [("invoice.paid", "Received")] * 3
        stage.calls.clear()
        _four_hours_pass(machine, till)
    _until_tried(machine, till)

    # then
    assert machine.rows("select from job where organization_id = %s and failed_at is not null", till.id) == []
    stage.faults.clear()
    _four_hours_pass(machine, till)
    outcome.check(machine, till)
    assert till.events("status") == [("Processed",)] * 3


def test_hanging_gateway_api_delays_only_its_brand(machine: Machine, till: GatewayShop, stage: StripeStage) -> None:
    # given: more events of one brand than a fleet has threads, each of which needs an answer that does not come
    machine.lengthen_leases()
    with closing(GatewayShop(machine, stage)) as other:
        stage.calls.clear()
        stage.faults.extend(["hang"] * 12)
        till.deliver(*(till.pay(slug=None, customer=str(number), email=None).notifications[0] for number in range(12)))
        machine.wait_until(lambda: len(stage.calls) >= 6, "the API has as many as it may have")

        # when
        other.deliver(other.pay(customer="another").notifications[0])

        # then: the other brand's is booked while none of the first one's is, of which no more are out than its share
        machine.wait_until(lambda: other.events("status") == [("Processed",)], "the other brand's is booked")
        assert till.events("status") == [("Received",)] * 12
        assert machine.rows(_OUT, till.id)[0][0] <= 6


def test_job_waiting_for_a_slow_api_is_dispatched_once(machine: Machine, till: GatewayShop, stage: StripeStage) -> None:
    # given: an API that takes its time, though not as long as a lease is
    machine.lengthen_leases()
    before = machine.sum_metric(*_HANDED_OUT)
    stage.slow_s = 0.5
    sales = [till.pay(slug=None, customer=str(number), email=None) for number in range(64)]
    for path in (f"/v1/customers/cus_{number}" for number in range(64)):
        stage.objects[path]["metadata"] = {"affiliate_slug": "ben"}
    stage.faults.extend(["slow"] * 64)

    # when
    till.deliver(*(sale.notifications[0] for sale in sales))
    most = 0

    def is_over() -> bool:
        nonlocal most
        most = max(most, machine.rows(_OUT, till.id)[0][0])
        return not machine.list_unsettled()

    machine.wait_until(is_over, "everything settles")

    # then: all that was out had a thread, so that none outlived its lease in somebody's hand and counted an attempt
    outcome.check(machine, till)
    assert most <= 6
    assert machine.sum_metric(*_HANDED_OUT) - before == 64


def _until_tried(machine: Machine, till: GatewayShop) -> None:
    def are_tried() -> bool:
        asked = {call.path for call in list(till.stage.calls)}
        return asked >= _CUSTOMERS and machine.rows(_WAITING, till.id) == [(3,)]

    machine.wait_until(are_tried, "every event is tried and waits")


def _four_hours_pass(machine: Machine, till: GatewayShop) -> None:
    """Move what the service knows of the time: when the gateway was connected, events came, and are tried again."""
    for table, column in (("gateway_connection", "connected_at"), ("gateway_event", "received_at")):
        moved = f"update {table} set {column} = {column} - interval '4 hours' where organization_id = %s"
        machine.execute(moved, str(till.id))
    machine.execute("update job set run_at = now() where organization_id = %s", str(till.id))
