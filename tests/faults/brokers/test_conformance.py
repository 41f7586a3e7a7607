"""With every kind of broker, and every way in which it fails, nothing is lost and nothing is done twice."""

import http.client
import json
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime

import pytest

from adapters import broker
from adapters.clicks import serialization
from adapters.clicks.stream import ClickStream, append_call
from api.access.limits import Limiter
from tests.faults.brokers.conftest import BrokerInstallation
from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.rows.click_rows import build_click

# RabbitMQ itself may take half a minute to start on a busy machine.
pytestmark = pytest.mark.timeout(400)


def test_triple_late_messages_have_one_effect(
    machine: Machine, shop: Shop, broker_installation: BrokerInstallation
) -> None:
    # given
    shop.subscribe()
    machine.kill("workers", "webhooks")
    machine.forget_killed_fleets()
    machine.start("workers-triple", "webhooks-triple", modules=["tests.support.installation.triple_delivery"])

    # when: jobs of a paused fleet are dispatched again before it is resumed
    shop.sell_many(10)
    machine.wait_until_settled()
    machine.pause("workers-triple")
    shop.sell_many(5)
    dispatched_again = "select from job where organization_id = %s and queue = 'sales' and attempt > 1"
    machine.wait_until(lambda: bool(machine.rows(dispatched_again, shop.id)), "a lease ends")
    machine.resume("workers-triple")
    shop.sell_many(10)
    for order in list(shop.sold)[:5]:
        shop.refund(order, 1_000)

    # then
    outcome.check(machine, shop)
    requests_by_delivery = Counter(received.headers["x-service-delivery-id"] for received in shop.receiver.received)
    assert set(requests_by_delivery.values()) == {1}
    assert broker_installation.list_dead_letters() == []


def test_ended_and_killed_fleets_return_their_jobs(
    machine: Machine, shop: Shop, broker_installation: BrokerInstallation
) -> None:
    # given
    shop.subscribe()

    # when
    with shop.sell_continuously():
        shop.wait_until_sold(5)
        machine.stop("workers", "webhooks")
        shop.wait_until_sold(5)
        machine.start("workers", "webhooks")
        shop.wait_until_sold(5)
        machine.kill("workers")
        machine.start("workers")
    machine.insert_job(shop.id, "sale.settle", max_attempts=1, sale_id="no id")

    # then
    machine.wait_until(lambda: bool(machine.rows("select from job where failed_at is not null")), "the job has failed")
    assert machine.rows("delete from job where failed_at is not null returning name, attempt") == [("sale.settle", 1)]
    outcome.check(machine, shop)
    assert broker_installation.list_dead_letters() == []


def test_broker_loss_and_failover_under_load_loses_nothing(
    machine: Machine, shop: Shop, broker_installation: BrokerInstallation
) -> None:
    # given
    shop.subscribe()

    # when
    with shop.sell_continuously():
        for fail in (
            broker_installation.lose_primary,
            broker_installation.lose_messages,
            broker_installation.demote_primary,
        ):
            shop.wait_until_sold(10)
            fail()
            machine.note(f"broker: {fail.__name__}")
            shop.wait_until_sold(10)

    # then
    outcome.check(machine, shop)
    assert set(shop.statuses) <= {200, 422}
    assert broker_installation.list_dead_letters() == []


def test_clicks_limits_and_wake_ups_work_as_on_one_server(
    machine: Machine, shop: Shop, broker_installation: BrokerInstallation
) -> None:
    url = broker_installation.environment["REDIS_URL"]

    # clicks, with the rate limits that are counted in the same call
    stream = ClickStream(url)
    clicks = [build_click(shop.brand, shop.ben, at=datetime.now(UTC)) for _ in range(20)]
    windows = {"LIMITS:{finderfee:clicks}:own": 20, "LIMITS:{finderfee:clicks}:site": 100}
    answers = [
        stream.append(append_call(serialization.to_bytes(click), windows=windows, window_s=60))
        for click in (*clicks, clicks[0])
    ]
    assert answers[:-1] == [None] * 20
    assert answers[-1] is not None
    assert answers[-1][0] == 0
    written = "select count(distinct id)::int from click where organization_id = %s"
    machine.wait_until(lambda: machine.rows(written, str(shop.id)) == [(20,)], "every click is written")
    machine.wait_until(lambda: stream.length() == 0, "every click is acknowledged")

    # rate limits alone
    limiter = Limiter(url, {"standard": 2})
    assert [limiter.allows("standard", str(shop.id)) for _ in range(3)] == [True, True, False]
    assert [limiter.allows("standard", "2001:db8:9:1::") for _ in range(3)] == [True, True, False]

    # wake-ups: the relay takes this one
    broker.client(url).lpush(broker.WAKE_LIST, 1)
    machine.wait_until(lambda: broker.client(url).llen(broker.WAKE_LIST) == 0, "the relay is woken")

    # health and metrics
    assert _get(machine, "/readyz") == {"database": "ok", "broker": "ok"}
    assert machine.sum_metric("finderfee_click_stream_kept_on_disk") == 1
    assert machine.sum_metric("finderfee_click_stream_entries") == 0


def _get(machine: Machine, path: str) -> object:
    with closing(http.client.HTTPConnection("127.0.0.1", machine.port, timeout=10)) as connection:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
