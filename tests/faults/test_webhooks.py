"""Webhook receivers and their name servers fail: others pay nothing for it, and nobody is told the same twice."""

import http.client
import json
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.support.installation.ground import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.outside.receiver import Handler, status

# A name server that holds a thread holds it for seconds; the health of a busy machine is told in a fraction of one.
_HELD_UP_S = 1


def _cut(handler: Handler) -> None:
    """Hang up on a request that was read."""
    handler.close_connection = True


def test_an_attempt_that_is_cut_off_on_a_kept_connection_was_one_request(machine: Machine, shop: Shop) -> None:
    # given: a receiver that keeps its connections
    endpoint_id = shop.subscribe(events=("conversion.created",))
    shop.receiver.answers = [status(200)]
    shop.sell()
    machine.settle()
    told = len(shop.receiver.received)

    # when: the next requests on it are read and cut off
    shop.receiver.answers = [_cut, _cut, _cut, status(200)]
    shop.sell()
    machine.settle()

    # then: there are exactly as many requests as attempts
    attempts = machine.rows("select sum(attempt_count) from delivery where endpoint_id = %s", str(endpoint_id))
    assert len(shop.receiver.received) == attempts[0][0]
    assert len(shop.receiver.received) > told + 2


def test_a_silent_name_server_holds_up_nobody_else(machine: Machine, shop: Shop) -> None:
    # given: a web server of eight threads whose name server says nothing
    machine.stop("web")
    machine.start("web-silent", modules=["-c", "tests/support/installation/silent_names.py"])

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
