"""Webhook receivers and their name servers fail: others pay nothing for it, and nobody is told the same twice."""

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

# A name server that holds a thread holds it for a minute; the health of any machine is told in a fraction of that.
_HELD_UP_S = 10


def _cut(handler: Handler) -> None:
    """Hang up on a request that was read."""
    handler.close_connection = True


def test_attempt_cut_off_on_a_reused_connection_sends_one_request(machine: Machine, shop: Shop) -> None:
    # given: a receiver that keeps its connections
    endpoint_id = shop.subscribe(events=("conversion.created",))
    shop.receiver.answers = [status(200)]
    shop.sell()
    machine.wait_until_settled()
    told = len(shop.receiver.received)

    # when: the next requests on it are read and cut off
    shop.receiver.answers = [_cut, _cut, _cut, status(200)]
    shop.sell()
    machine.wait_until_settled()

    # then: there are no more requests than attempts; on a slow machine an attempt may end before its request is sent
    attempts = machine.rows("select sum(attempt_count) from delivery where endpoint_id = %s", str(endpoint_id))
    assert told + 2 < len(shop.receiver.received) <= attempts[0][0]


def test_silent_name_server_delays_no_other_endpoint(machine: Machine, shop: Shop) -> None:
    # given: a web server of eight threads whose name server says nothing
    machine.stop("web")
    machine.start("web-silent", modules=["-c", "tests/support/installation/web_settings/silent_names.py"])

    # when: twice as many as it has threads wait for names
    with ThreadPoolExecutor(16) as pool:
        creating = [pool.submit(_create, machine, shop, number) for number in range(16)]
        time.sleep(0.2)
        healthy_s = [_seconds_for_health(machine) for _ in range(15)]
        statuses = [one.result() for one in creating]

    # then
    assert statistics.median(healthy_s) < _HELD_UP_S
    assert statuses == [201] * 16


def _create(machine: Machine, shop: Shop, number: int) -> int:
    body = json.dumps({"url": f"https://silent-{number}.test/hook", "events": ["*"]})
    headers = {"Authorization": f"Bearer {shop.brand.api_key}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", machine.port, timeout=PATIENCE_S)) as connection:
        connection.request("POST", "/api/v1/webhooks", body, headers)
        return connection.getresponse().status


def _seconds_for_health(machine: Machine) -> float:
    started = time.monotonic()
    with closing(http.client.HTTPConnection("127.0.0.1", machine.port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
    return time.monotonic() - started


_BACKLOG = 12
_OUT_TOGETHER = "select count(*) from job where organization_id = %s and taken_with is not null"
_ATTEMPTS = "select sum(attempt_count) from delivery where organization_id = %s"
_TOLD_OTHER = """
select count(*) from delivery d join webhook_endpoint w on w.id = d.endpoint_id
where d.organization_id = %s and w.url like '%%/other' and d.status = 'Delivered'
"""


def _fall_behind(machine: Machine, shop: Shop) -> None:
    """Let more deliveries to `/hook` be due at once than are handed out one by one."""
    with machine.pause_queue("webhooks"):
        shop.sell_many(_BACKLOG)
        waiting = "select count(*) >= %s from delivery where organization_id = %s"
        machine.wait_until(lambda: machine.rows(waiting, _BACKLOG, shop.id) == [(True,)], "every sale is to be told")


def test_kill_9_between_batch_calls_keeps_delivery_ids(machine: Machine, shop: Shop) -> None:
    # given: a receiver that has answered some of a batch and has another in its hands for as long as it takes
    machine.lengthen_leases()
    machine.kill("webhooks")
    machine.start("webhooks", variables={"WEBHOOK_TIMEOUT_S": "60"})
    shop.subscribe("/hook", events=("conversion.created",))
    shop.receiver.answers = [*[status(200)] * 3, shop.gate]
    shop.gate.shut("/hook")
    _fall_behind(machine, shop)
    machine.wait_until(lambda: shop.gate.open_requests["/hook"] > 0, "the receiver holds one")
    ((together,),) = machine.rows(_OUT_TOGETHER, shop.id)

    # when
    machine.kill("webhooks")
    shop.gate.open()
    machine.start("webhooks")
    machine.end_leases(shop.id)

    # then
    assert together > 0
    outcome.check(machine, shop)
    assert len(shop.receiver.received) <= machine.rows(_ATTEMPTS, shop.id)[0][0]


def test_endpoint_hanging_within_a_batch_delays_no_other(machine: Machine, shop: Shop) -> None:
    # given
    shop.subscribe("/hook", events=("conversion.created",))
    shop.receiver.answers = [*[status(200)] * 3, shop.gate]
    shop.gate.shut("/hook")
    _fall_behind(machine, shop)
    machine.wait_until(lambda: shop.gate.open_requests["/hook"] > 0, "the receiver holds one")
    # An event that is being written does not see who subscribes in that moment.
    machine.wait_until(lambda: not machine.rows("select from job where queue = 'sales'"), "every sale is settled")

    # when: another endpoint is told meanwhile
    shop.subscribe("/other", events=("*",))
    shop.sell()
    machine.wait_until(lambda: machine.rows(_TOLD_OTHER, shop.id)[0][0] > 0, "the other one is told")

    # then
    shop.gate.open()
    outcome.check(machine, shop)
    assert len(shop.receiver.received) <= machine.rows(_ATTEMPTS, shop.id)[0][0]
