"""Spans of a whole machine, whose web server forks and whose fleets are processes of their own, meet in one trace."""

from collections.abc import Iterator

import pytest

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.tracing.collector import Collector

_WALK = {"POST /api/tracking/s2s", "sale.settle", "webhook.deliver", "call to a customer's server"}


@pytest.fixture
def collector(machine: Machine) -> Iterator[Collector]:
    """Restart every process of the machine so that it sends its spans on."""
    started = Collector()
    try:
        machine.restart_with_broker({"OTEL_EXPORTER_OTLP_ENDPOINT": started.url, "OTEL_BSP_SCHEDULE_DELAY": "100"})
        yield started
    finally:
        machine.restart_with_broker({})
        started.close()


def test_trace_spans_processes_and_survives_a_lost_collector(
    machine: Machine, shop: Shop, collector: Collector
) -> None:
    # given
    shop.subscribe()

    # when: one after the other, for of several that are done together one has a span
    for _ in range(5):
        shop.sell()
        machine.wait_until_settled()
    outcome.check(machine, shop)

    # then
    def walked() -> list[bytes]:
        names: dict[bytes, set[str]] = {}
        for span in list(collector.spans):
            names.setdefault(span.trace_id, set()).add(span.name)
        return [trace_id for trace_id, found in names.items() if found >= _WALK]

    machine.wait_until(lambda: len(walked()) == 5, "every sale is one trace")

    # and when nobody answers any more
    collector.status = None
    shop.sell_many(5)
    machine.stop("workers", "webhooks")
    machine.start("workers", "webhooks")
    outcome.check(machine, shop)
