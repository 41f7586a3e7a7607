"""Spans of a whole installation, with a forking web server and separate worker processes, join in one trace."""

from collections.abc import Iterator

import pytest

from tests.support.installation import outcome
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop
from tests.support.tracing.collector import Collector

_SALE_SPANS = {"POST /api/tracking/s2s", "sale.settle", "webhook.deliver", "call to a customer's server"}


@pytest.fixture
def collector(machine: Machine) -> Iterator[Collector]:
    """Restart every process with a collector for its spans."""
    collector = Collector()
    try:
        machine.restart_with_broker({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"})
        yield collector
    finally:
        machine.restart_with_broker({})
        collector.close()


def test_trace_spans_processes_and_survives_a_lost_collector(
    machine: Machine, shop: Shop, collector: Collector
) -> None:
    # given
    shop.subscribe()

    # when: one sale after the other, because of several in a batch only one has a span
    for _ in range(5):
        shop.sell()
        machine.wait_until_settled()
    outcome.check(machine, shop)

    # then
    def complete_traces() -> list[bytes]:
        names_by_trace: dict[bytes, set[str]] = {}
        for span in list(collector.spans):
            names_by_trace.setdefault(span.trace_id, set()).add(span.name)
        return [trace_id for trace_id, names in names_by_trace.items() if names >= _SALE_SPANS]

    machine.wait_until(lambda: len(complete_traces()) == 5, "every sale is one trace")

    # and when the collector does not respond any more
    collector.status = None
    shop.sell_many(5)
    machine.stop("workers", "webhooks")
    machine.start("workers", "webhooks")
    outcome.check(machine, shop)
