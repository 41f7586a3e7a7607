"""One sale has one trace from its request to its delivery, sent by OTLP to a span receiver, or no trace at all."""

import threading

import pytest
import structlog

from adapters import logs
from adapters.tracing import export, spans
from adapters.tracing.export import Otlp
from models import db
from tests.support.endpoints import Endpoint
from tests.support.tracing.collector import Collector, attributes

# Timeout for the spans to arrive; a process that ends waits for one second.
_TIMEOUT_S = 60


@pytest.fixture
def shop(brand):
    """A brand with one affiliate."""
    brand.program()
    brand.affiliate("ben")
    return brand


@pytest.fixture
def collector(monkeypatch):
    """A span receiver that no exporter uses yet; it is complete after `spans.flush`.

    All exporter threads have ended when the test ends.
    """
    monkeypatch.setattr(export, "_FLUSH_S", _TIMEOUT_S)
    new_collector = Collector()
    yield new_collector
    spans.flush()
    spans.configure(None)
    structlog.contextvars.clear_contextvars()
    new_collector.close()
    for sender in threading.enumerate():
        if sender.name.startswith("Otel"):
            sender.join(_TIMEOUT_S)
            assert not sender.is_alive()


def test_sale_has_one_trace_from_request_to_delivery(shop, receiver, drain, collector):
    # given
    Endpoint.create(shop, receiver.url)
    spans.configure(Otlp(collector.url))

    # when
    answer = shop.sale(externalEventId="order-1", customerEmail="zoe@customer.example", customerName="Zoë Secret")
    drain()
    spans.flush()

    # then: the request, its job, the job of that job, and the call
    spans_by_name = {span.name: span for span in collector.spans}
    names = ["POST /api/tracking/s2s", "sale.settle", "webhook.deliver", "call to a customer's server"]
    assert set(names) <= set(spans_by_name)
    chain = [spans_by_name[name] for name in names]
    assert len({span.trace_id for span in chain}) == 1
    assert [span.parent_span_id for span in chain[1:]] == [span.span_id for span in chain[:-1]]
    assert not chain[0].parent_span_id
    assert collector.services == {"finderfee"}

    # and each has the request id and the outcome, and no personal data
    request_id = answer.headers["X-Request-Id"]
    assert {attributes(span)["finderfee.request_id"] for span in chain[:3]} == {request_id}
    assert attributes(chain[0])["http.response.status_code"] == 200
    assert attributes(chain[2])["finderfee.outcome"] == "done"
    assert attributes(chain[3])["http.response.status_code"] == 200
    serialized = b"".join(span.SerializeToString() for span in collector.spans)
    for secret in (b"zoe@", b"customer.example", b"Secret", shop.api_key.encode(), b"127.0.0.1", b"/hook"):
        assert secret not in serialized, secret
    (received,) = receiver.received
    assert "traceparent" not in received.headers


def test_context_variables_exist_before_threads_start(shop, receiver, drain, collector, monkeypatch):
    """Two threads that create one variable concurrently would have two, and one could not reset its value."""
    variables = {}
    monkeypatch.setattr(structlog.contextvars, "_CONTEXT_VARS", variables)
    logs.create_context_variables()
    variables_before = dict(variables)
    Endpoint.create(shop, receiver.url)
    spans.configure(Otlp(collector.url))

    assert shop.sale(externalEventId="order-1").status_code == 200
    assert drain() > 0

    assert variables == variables_before


def test_failing_span_receiver_does_not_block_requests(shop, receiver, drain, collector, monkeypatch):
    monkeypatch.setattr(export, "_FLUSH_S", 1)
    Endpoint.create(shop, receiver.url)

    for number, status in enumerate((503, None)):
        collector.status = status
        spans.configure(Otlp(collector.url))
        assert shop.sale(externalEventId=f"order-{number}").status_code == 200
        drain()
        spans.flush()
        assert collector.request_arrived.wait(_TIMEOUT_S)
        collector.request_arrived.clear()

    assert len(receiver.received) == 2


def test_tracing_off_stores_and_sends_nothing(shop, drain):
    shop.sale()

    with db.any_org_work():
        assert db.db.run("select trace from job") == [(None,)]
    assert spans.job("sale.settle", None) is spans.call("webhook", "POST")
    assert "traceparent" not in structlog.contextvars.get_contextvars()


def test_malformed_trace_starts_a_new_trace(collector):
    spans.configure(Otlp(collector.url))

    for trace in ("", "nonsense", "00-xyz-1-1 request", "00-1-2"):
        spans.job("sale.settle", trace, job_id=1).end()
    spans.flush()

    assert [span.parent_span_id for span in collector.spans] == [b""] * 4
