"""A gateway's API is down, or hangs: its events are stored and retried, and other brands are not delayed."""

from contextlib import closing

from tests.support.gateways.card.stripe import StripeStage
from tests.support.installation import outcome
from tests.support.installation.gateway_shop import GatewayShop
from tests.support.installation.machine import Machine

_WAITING = "select count(*) from job where organization_id = %s and deadline is null and run_at > now()"
_IN_FLIGHT = "select count(*) from job where organization_id = %s and queue = 'gateways' and deadline > now()"
_DISPATCHED = ("finderfee_jobs_handed_out_total", 'queue="gateways"')
_CUSTOMERS = {f"/v1/customers/cus_{number}" for number in range(3)}


def test_day_without_gateway_api_loses_no_event(machine: Machine, shop: GatewayShop, stage: StripeStage) -> None:
    # given: payments whose affiliate is only named by the customer's object, and an API that fails in every way
    shop.subscribe()
    sales = [shop.pay(slug=None, customer=str(number), email=None) for number in range(3)]
    for path in _CUSTOMERS:
        stage.objects[path]["metadata"] = {"affiliate_slug": "ben"}
    stage.faults.extend(["fail", "busy", "cut", "html"] * 100)

    # when: they are retried every four hours, and the API is still down
    shop.deliver(*(sale.notifications[0] for sale in sales))
    for _ in range(7):
        _wait_until_tried(machine, shop)
        assert shop.events("type, status") == [("invoice.paid", "Received")] * 3
        stage.calls.clear()
        _pass_four_hours(machine, shop)
    _wait_until_tried(machine, shop)

    # then
    assert machine.rows("select from job where organization_id = %s and failed_at is not null", shop.id) == []
    stage.faults.clear()
    _pass_four_hours(machine, shop)
    outcome.check(machine, shop)
    assert shop.events("status") == [("Processed",)] * 3


def test_hanging_gateway_api_delays_only_its_brand(machine: Machine, shop: GatewayShop, stage: StripeStage) -> None:
    # given: many events of one brand, each of which needs a response that does not come
    machine.lengthen_leases()
    with closing(GatewayShop(machine, stage)) as other_shop:
        stage.calls.clear()
        stage.faults.extend(["hang"] * 12)
        shop.deliver(*(shop.pay(slug=None, customer=str(number), email=None).notifications[0] for number in range(12)))
        machine.wait_until(lambda: len(stage.calls) >= 6, "the API has as many open calls as one brand may have")

        # when
        other_shop.deliver(other_shop.pay(customer="another").notifications[0])

        # then: the other brand's event is booked, while none of the first brand's is, and those in flight are its share
        machine.wait_until(lambda: other_shop.events("status") == [("Processed",)], "the other brand's event is booked")
        assert shop.events("status") == [("Received",)] * 12
        assert machine.rows(_IN_FLIGHT, shop.id)[0][0] <= 6


def test_job_waiting_for_a_slow_api_is_dispatched_once(machine: Machine, shop: GatewayShop, stage: StripeStage) -> None:
    # given: an API that is slow, but faster than the end of a lease
    machine.lengthen_leases()
    dispatched_before = machine.sum_metric(*_DISPATCHED)
    stage.slow_s = 0.5
    sales = [shop.pay(slug=None, customer=str(number), email=None) for number in range(64)]
    for path in (f"/v1/customers/cus_{number}" for number in range(64)):
        stage.objects[path]["metadata"] = {"affiliate_slug": "ben"}
    stage.faults.extend(["slow"] * 64)

    # when
    shop.deliver(*(sale.notifications[0] for sale in sales))
    max_in_flight = 0

    def is_settled() -> bool:
        nonlocal max_in_flight
        max_in_flight = max(max_in_flight, machine.rows(_IN_FLIGHT, shop.id)[0][0])
        return not machine.list_unsettled()

    machine.wait_until(is_settled, "no work is left")

    # then: each dispatched job had a thread, so that no lease ended before the job was begun, which would be an attempt
    outcome.check(machine, shop)
    assert max_in_flight <= 6
    assert machine.sum_metric(*_DISPATCHED) - dispatched_before == 64


def _wait_until_tried(machine: Machine, shop: GatewayShop) -> None:
    def are_tried() -> bool:
        requested_paths = {call.path for call in list(shop.stage.calls)}
        return requested_paths >= _CUSTOMERS and machine.rows(_WAITING, shop.id) == [(3,)]

    machine.wait_until(are_tried, "every event was tried and waits")


def _pass_four_hours(machine: Machine, shop: GatewayShop) -> None:
    """Move the connection and the events four hours into the past, and make all jobs due."""
    for table, column in (("gateway_connection", "connected_at"), ("gateway_event", "received_at")):
        move = f"update {table} set {column} = {column} - interval '4 hours' where organization_id = %s"
        machine.execute(move, str(shop.id))
    machine.execute("update job set run_at = now() where organization_id = %s", str(shop.id))
