"""One sale from its request to its delivery under one trace, in a receiver of spans that speaks OTLP; or nothing."""

import threading

import pytest
import structlog

from adapters import logs
from adapters.tracing import export, spans
from adapters.tracing.export import Otlp
from models import db
from tests.support.endpoints import Endpoint
from tests.support.tracing.collector import Collector, attributes

# How long whoever asks what was sent waits for it to be; a process that ends waits for a second.
_PATIENCE_S = 60


@pytest.fixture
def shop(brand):
    """A brand whose affiliate sells."""
    brand.program()
    brand.affiliate("ben")
    return brand


@pytest.fixture
def collector(monkeypatch):
    """A receiver of spans that nobody sends to yet; it has everything once `spans.flush` is over, and in the end.

    Who sends on behind that has ended, too, when the test has.
    """
    monkeypatch.setattr(export, "_FLUSH_S", _PATIENCE_S)
    started = Collector()
    yield started
    spans.flush()
    spans.configure(None)
    structlog.contextvars.clear_contextvars()
    started.close()
    for sender in threading.enumerate():
        if sender.name.startswith("Otel"):
            sender.join(_PATIENCE_S)
            assert not sender.is_alive()


def test_a_sale_is_one_trace_from_its_request_to_its_delivery(shop, receiver, drain, collector):
    # given
    Endpoint.create(shop, receiver.url)
    spans.configure(Otlp(collector.url))

    # when
    answer = shop.sale(externalEventId="order-1", customerEmail="zoe@customer.example", customerName="Zoë Secret")
    drain()
    spans.flush()

    # then: the request, its job, that one's job, and the call
    found = {span.name: span for span in collector.spans}
    names = ["POST /api/tracking/s2s", "sale.settle", "webhook.deliver", "call to a customer's server"]
    assert set(names) <= set(found)
    chain = [found[name] for name in names]
    assert len({span.trace_id for span in chain}) == 1
    assert [span.parent_span_id for span in chain[1:]] == [span.span_id for span in chain[:-1]]
    assert not chain[0].parent_span_id
    assert collector.services == {"finderfee"}

    # and each says which request began it all, how it ended, and nothing of anybody
    request_id = answer.headers["X-Request-Id"]
    assert {attributes(span)["finderfee.request_id"] for span in chain[:3]} == {request_id}
    assert attributes(chain[0])["http.response.status_code"] == 200
    assert attributes(chain[2])["finderfee.outcome"] == "done"
    assert attributes(chain[3])["http.response.status_code"] == 200
    said = b"".join(span.SerializeToString() for span in collector.spans)
    for secret in (b"zoe@", b"customer.example", b"Secret", shop.api_key.encode(), b"127.0.0.1", b"/hook"):
        assert secret not in said, secret
    (received,) = receiver.received
    assert "traceparent" not in received.headers


def test_every_mark_of_a_line_is_made_before_threads_begin(shop, receiver, drain, collector, monkeypatch):
    """Two threads that made the same one at once would have two: one of them could not take its mark back."""
    made = {}
    monkeypatch.setattr(structlog.contextvars, "_CONTEXT_VARS", made)
    logs.create_context_variables()
    before = dict(made)
    Endpoint.create(shop, receiver.url)
    spans.configure(Otlp(collector.url))

    assert shop.sale(externalEventId="order-1").status_code == 200
    assert drain() > 0

    assert made == before


def test_a_receiver_of_spans_that_refuses_or_hangs_holds_nobody_up(shop, receiver, drain, collector, monkeypatch):
    monkeypatch.setattr(export, "_FLUSH_S", 1)
    Endpoint.create(shop, receiver.url)

    for number, status in enumerate((503, None)):
        collector.status = status
        spans.configure(Otlp(collector.url))
        assert shop.sale(externalEventId=f"order-{number}").status_code == 200
        drain()
        spans.flush()
        assert collector.asked.wait(_PATIENCE_S)
        collector.asked.clear()

    assert len(receiver.received) == 2


def test_where_nobody_looks_nothing_is_kept_or_told(shop, drain):
    shop.sale()

    with db.any_org_work():
        assert db.db.run("select trace from job") == [(None,)]
    assert spans.job("sale.settle", None) is spans.call("webhook", "POST")
    assert "traceparent" not in structlog.contextvars.get_contextvars()


def test_a_name_that_is_none_begins_a_trace_of_its_own(collector):
    spans.configure(Otlp(collector.url))

    for carried in ("", "nonsense", "00-xyz-1-1 request", "00-1-2"):
        spans.job("sale.settle", carried, job_id=1).end()
    spans.flush()

    assert [span.parent_span_id for span in collector.spans] == [b""] * 4
