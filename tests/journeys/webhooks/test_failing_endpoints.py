"""A failing endpoint is visible in the metrics, in the log, and after a day by email to the Owners."""

from contextlib import nullcontext

import pytest
import structlog
from prometheus_client import REGISTRY

from domain import jobs
from models import db
from pipelines import work
from tests.support.endpoints import Endpoint
from tests.support.outside.delivery_timeouts import short_delivery_timeout
from tests.support.outside.receiver import hang, status


@pytest.fixture
def endpoint(brand, receiver):
    brand.program()
    brand.affiliate("ben")
    return Endpoint.create(brand, f"{receiver.url}?token=hush")


@pytest.fixture
def lines(app, monkeypatch):
    """Log entries of the webhook workers."""
    captured = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    chain = [structlog.contextvars.merge_contextvars, captured]
    log = structlog.wrap_logger(None, processors=chain, wrapper_class=everything)
    monkeypatch.setattr("workers.queues.webhooks._log", log)
    return captured.entries


def _read_counter(outcome: str) -> float:
    return REGISTRY.get_sample_value("finderfee_webhook_attempts_total", {"outcome": outcome}) or 0.0


def _sell(endpoint, drain):
    assert endpoint.brand.sale().status_code == 200
    drain()


def _retry(endpoint, drain):
    endpoint.make_deliveries_due()
    drain()


def _outage(endpoint):
    """Return (is failing, Owners were notified)."""
    sql = "select failing_since is not null, failure_told_at is not null from webhook_endpoint where id = %s"
    return endpoint.brand.rows(sql, endpoint.id)[0]


def _pass_time(drain, hours: float = 24.01):
    """Make the outages older and run the scheduled check."""
    with db.any_org_work():
        db.db.run("update webhook_endpoint set failing_since = failing_since - %s * interval '1 hour'", (hours,))
        db.db.run("update delivery set created_at = created_at - %s * interval '1 hour',"
                  " settled_at = settled_at - %s * interval '1 hour'", (hours, hours))  # fmt: skip
        work.enqueue(jobs.WEBHOOKS_FAILING, organization_id=None)
    drain("upkeep", "mail")


def _list_emails(brand):
    return brand.rows(
        "select recipient, subject, id from mail_message where kind = 'notification.webhook_failing' order by id"
    )


def _read(brand, flask):
    """Return the text of the latest email as the operator sees it."""
    return flask.json("mail", "show", _list_emails(brand)[-1][2])["text"]


@pytest.mark.parametrize(
    ("script", "patience", "outcome", "code", "reason"),
    [
        (status(503, b"a secret of theirs"), nullcontext, "refused", 503, None),
        (hang(60), short_delivery_timeout, "unreachable", None, "no complete response within 2 s"),
    ],
)
def test_failed_attempt_is_counted_and_logged_once(
    endpoint, receiver, drain, lines, *, script, patience, outcome, code, reason
):
    receiver.answers = [script]
    count_before = _read_counter(outcome)

    with patience():
        _sell(endpoint, drain)

    ((delivery_id,),) = endpoint.deliveries("d.id::text")
    (line,) = lines
    context = ("job_id", "job", "request_id")  # the last one is of the test's own request
    assert {name: value for name, value in line.items() if name not in context} == {
        "event": "webhook.failed",
        "log_level": "info",
        "organization_id": str(endpoint.brand.id),
        "endpoint_id": str(endpoint.id),
        "delivery_id": delivery_id,
        "event_type": "conversion.created",
        "attempt": 1,
        "outcome": outcome,
        "status": code,
        "reason": reason,
    }
    assert _read_counter(outcome) == count_before + 1


def test_successful_attempt_is_counted_and_not_logged(endpoint, drain, lines):
    count_before = _read_counter("delivered")

    _sell(endpoint, drain)

    assert lines == []
    assert _read_counter("delivered") == count_before + 1


def test_forbidden_url_is_unreachable(brand, receiver, drain, lines):
    brand.program()
    brand.affiliate("ben")
    _sell(Endpoint.create(brand, receiver.url.replace("https", "ftp")), drain)

    assert [(line["outcome"], line["reason"]) for line in lines] == [
        ("unreachable", "The URL must start with https://.")
    ]


def test_delivery_to_a_deleted_endpoint_is_no_attempt(endpoint, drain, lines):
    count_before = _read_counter("unreachable")
    assert endpoint.brand.sale().status_code == 200
    drain("sales")
    endpoint.delete()
    drain()

    assert endpoint.deliveries("failure_reason") == [("The endpoint was deleted.",)]
    assert (lines, _read_counter("unreachable")) == ([], count_before)


def test_endpoint_is_failing_until_its_next_success(endpoint, receiver, drain):
    receiver.answers = [status(200), status(500), status(500), status(200)]
    states = []
    _sell(endpoint, drain)
    states.append(_outage(endpoint)[0])
    _sell(endpoint, drain)
    first = endpoint.brand.rows("select failing_since from webhook_endpoint")
    states.append(_outage(endpoint)[0])
    _retry(endpoint, drain)
    later = endpoint.brand.rows("select failing_since from webhook_endpoint")
    _retry(endpoint, drain)
    states.append(_outage(endpoint)[0])

    assert states == [False, True, False]
    assert later == first


def test_changed_url_resets_the_failure(endpoint, receiver, drain):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)
    url = f"/api/v1/webhooks/{endpoint.id}"

    endpoint.brand.call("PATCH", url, {"url": f"{receiver.url}?token=hush", "description": "the same"})
    after_same_url = _outage(endpoint)
    endpoint.brand.call("PATCH", url, {"url": f"{receiver.url}/new"})

    assert (after_same_url, _outage(endpoint)) == ((True, False), (False, False))


def test_owners_get_one_email_after_a_day_without_success(endpoint, receiver, drain, flask):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)
    for _ in range(4):
        _retry(endpoint, drain)

    _pass_time(drain, hours=23.9)
    emails_before = _list_emails(endpoint.brand)
    _pass_time(drain, hours=0.2)
    _pass_time(drain)

    ((recipient, subject, _),) = _list_emails(endpoint.brand)
    text = _read(endpoint.brand, flask)
    assert emails_before == []
    assert (recipient, subject) == ("owner@example.com", "Webhook failing for a day: localhost")
    assert f"{receiver.url}\n" in text
    assert "hush" not in text
    assert "failed so far: 1\n  last attempt: answered 500" in text
    assert f"/api/v1/webhooks/{endpoint.id}/redeliver " in text
    assert _outage(endpoint) == (True, True)


def test_new_outage_after_a_recovery_is_reported_again(endpoint, receiver, drain):
    receiver.answers = [status(500), status(200), status(500)]
    _sell(endpoint, drain)
    _pass_time(drain)
    _retry(endpoint, drain)
    after_recovery = _outage(endpoint)
    _sell(endpoint, drain)
    _pass_time(drain)

    assert after_recovery == (False, False)
    assert len(_list_emails(endpoint.brand)) == 2


def test_one_email_lists_all_failing_endpoints_of_the_tenant(endpoint, rival, receiver, drain, flask):
    receiver.answers = [status(500)]
    second_endpoint = Endpoint.create(endpoint.brand, f"{receiver.url}/second")
    rival_endpoint = Endpoint.create(rival, f"{receiver.url}/theirs")
    rival.program()
    rival.affiliate("ben")
    _sell(endpoint, drain)
    _sell(rival_endpoint, drain)
    _pass_time(drain)

    text = _read(endpoint.brand, flask)
    assert (len(_list_emails(endpoint.brand)), len(_list_emails(rival))) == (1, 1)
    assert str(endpoint.id) in text
    assert str(second_endpoint.id) in text
    assert str(rival_endpoint.id) not in text


def test_deleted_or_recovered_endpoint_causes_no_email(endpoint, receiver, drain):
    deleted_endpoint = Endpoint.create(endpoint.brand, f"{receiver.url}/gone")
    receiver.answers = [status(500), status(500), status(200)]
    _sell(endpoint, drain)
    deleted_endpoint.delete()
    _retry(endpoint, drain)
    # a success that was under way when the outage was noted
    endpoint.brand.rows(
        "update webhook_endpoint set failing_since = (select min(settled_at) from delivery where status = 'Delivered')"
        " - interval '1 second' where id = %s returning id",
        endpoint.id,
    )
    _pass_time(drain)

    assert _list_emails(endpoint.brand) == []
