"""Webhook receivers and their name servers fail: other endpoints are not delayed, and no delivery is duplicated."""

import http.client
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.support.installation import outcome
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.outside.receiver import Handler, status

# A silent name server would block a thread for a minute; a health check takes a fraction of that on any machine.
_BLOCKED_S = 10


def _disconnect(handler: Handler) -> None:
    """Close the connection without a response after the request was read."""
    handler.close_connection = True


def test_attempt_cut_off_on_a_reused_connection_sends_one_request(machine: Machine, shop: Shop) -> None:
    # given: a receiver with persistent connections
    endpoint_id = shop.subscribe(events=("conversion.created",))
    shop.receiver.answers = [status(200)]
    shop.sell()
    machine.wait_until_settled()
    requests_before = len(shop.receiver.received)

    # when: the next requests on the connection are read and get no response
    shop.receiver.answers = [_disconnect, _disconnect, _disconnect, status(200)]
    shop.sell()
    machine.wait_until_settled()

    # then: there are no more requests than attempts; on a slow machine an attempt may end before its request is sent
    attempts = machine.rows("select sum(attempt_count) from delivery where endpoint_id = %s", str(endpoint_id))
    assert requests_before + 2 < len(shop.receiver.received) <= attempts[0][0]


def test_silent_name_server_delays_no_other_endpoint(machine: Machine, shop: Shop) -> None:
    # given: a web server with eight threads whose name server does not respond
    machine.stop("web")
    machine.start("web-silent", modules=["-c", "tests/support/installation/web_settings/silent_names.py"])

    # when: twice as many requests as it has threads wait for name lookups
    with ThreadPoolExecutor(16) as pool:
        creating = [pool.submit(_create_endpoint, machine, shop, number) for number in range(16)]
        time.sleep(0.2)
        health_check_s = [_measure_health_check_s(machine) for _ in range(15)]
        statuses = [call.result() for call in creating]

    # then
    assert statistics.median(health_check_s) < _BLOCKED_S
    assert statuses == [201] * 16


def _create_endpoint(machine: Machine, shop: Shop, number: int) -> int:
    body = json.dumps({"url": f"https://silent-{number}.test/hook", "events": ["*"]})
    headers = {"Authorization": f"Bearer {shop.brand.api_key}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", machine.port, timeout=PATIENCE_S)) as connection:
        connection.request("POST", "/api/v1/webhooks", body, headers)
        return connection.getresponse().status


def _measure_health_check_s(machine: Machine) -> float:
    started = time.monotonic()
    with closing(http.client.HTTPConnection("127.0.0.1", machine.port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
    return time.monotonic() - started


_BACKLOG = 12
_IN_BATCH = "select count(*) from job where organization_id = %s and taken_with is not null"
_ATTEMPTS = "select sum(attempt_count) from delivery where organization_id = %s"
_DELIVERED_TO_OTHER = """
select count(*) from delivery d join webhook_endpoint w on w.id = d.endpoint_id
where d.organization_id = %s and w.url like '%%/other' and d.status = 'Delivered'
"""


def _create_backlog(machine: Machine, shop: Shop) -> None:
    """Create more due deliveries to `/hook` than are dispatched one by one."""
    with machine.pause_queue("webhooks"):
        shop.sell_many(_BACKLOG)
        waiting = "select count(*) >= %s from delivery where organization_id = %s"
        machine.wait_until(lambda: machine.rows(waiting, _BACKLOG, shop.id) == [(True,)], "every sale has its delivery")


def test_kill_9_between_batch_calls_keeps_delivery_ids(machine: Machine, shop: Shop) -> None:
    # given: a receiver that has responded to some deliveries of a batch and holds the next one
    machine.lengthen_leases()
    machine.kill("webhooks")
    machine.start("webhooks", variables={"WEBHOOK_TIMEOUT_S": "60"})
    shop.subscribe("/hook", events=("conversion.created",))
    shop.receiver.answers = [*[status(200)] * 3, shop.gate]
    shop.gate.shut("/hook")
    _create_backlog(machine, shop)
    machine.wait_until(lambda: shop.gate.open_requests["/hook"] > 0, "the receiver holds a delivery")
    ((batch_size,),) = machine.rows(_IN_BATCH, shop.id)

    # when
    machine.kill("webhooks")
    shop.gate.open()
    machine.start("webhooks")
    machine.end_leases(shop.id)

    # then
    assert batch_size > 0
    outcome.check(machine, shop)
    assert len(shop.receiver.received) <= machine.rows(_ATTEMPTS, shop.id)[0][0]


def test_endpoint_hanging_within_a_batch_delays_no_other(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe("/hook", events=("conversion.created",))
    shop.receiver.answers = [*[status(200)] * 3, shop.gate]
    shop.gate.shut("/hook")
    _create_backlog(machine, shop)
    machine.wait_until(lambda: shop.gate.open_requests["/hook"] > 0, "the receiver holds a delivery")
    # An event that is written at the same time would have no delivery to the new endpoint.
    machine.wait_until(lambda: not machine.rows("select from job where queue = 'sales'"), "every sale is settled")

    # when: another endpoint has deliveries meanwhile
    shop.subscribe("/other", events=("*",))
    shop.sell()
    machine.wait_until(
        lambda: machine.rows(_DELIVERED_TO_OTHER, shop.id)[0][0] > 0, "the other endpoint gets its delivery"
    )

    # then
    shop.gate.open()
    outcome.check(machine, shop)
    assert len(shop.receiver.received) <= machine.rows(_ATTEMPTS, shop.id)[0][0]
