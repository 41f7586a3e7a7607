"""An endpoint that fails is seen: in the numbers, in the log, and by a letter to the Owners after a day."""

from contextlib import nullcontext

import pytest
import structlog
from prometheus_client import REGISTRY

from domain import jobs
from models import db
from pipelines import work
from tests.support.endpoints import Endpoint
from tests.support.outside.patience import hasty
from tests.support.outside.receiver import hang, status


@pytest.fixture
def endpoint(brand, receiver):
    brand.program()
    brand.affiliate("ben")
    return Endpoint.create(brand, f"{receiver.url}?token=hush")


@pytest.fixture
def lines(app, monkeypatch):
    """What the webhook workers log."""
    heard = structlog.testing.LogCapture()
    everything = structlog.make_filtering_bound_logger(0)
    chain = [structlog.contextvars.merge_contextvars, heard]
    log = structlog.wrap_logger(None, processors=chain, wrapper_class=everything)
    monkeypatch.setattr("workers.queues.webhooks._log", log)
    return heard.entries


def _counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("finderfee_webhook_attempts_total", {"outcome": outcome}) or 0.0


def _sell(endpoint, drain):
    assert endpoint.brand.sale().status_code == 200
    drain()


def _again(endpoint, drain):
    endpoint.hurry()
    drain()


def _outage(endpoint):
    """Is it failing, were the Owners told."""
    sql = "select failing_since is not null, failure_told_at is not null from webhook_endpoint where id = %s"
    return endpoint.brand.rows(sql, endpoint.id)[0]


def _a_day_passes(drain, hours: float = 24.01):
    """Let the outages be older, and the schedule look."""
    with db.any_org_work():
        db.db.run("update webhook_endpoint set failing_since = failing_since - %s * interval '1 hour'", (hours,))
        db.db.run("update delivery set created_at = created_at - %s * interval '1 hour',"
                  " settled_at = settled_at - %s * interval '1 hour'", (hours, hours))  # fmt: skip
        work.enqueue(jobs.WEBHOOKS_FAILING, organization_id=None)
    drain("upkeep")


def _letters(brand):
    return brand.rows("select recipient, subject, id from mail_message where kind = 'webhook.failing' order by id")


def _read(brand, flask):
    """Return the text of the latest letter as the operator reads it."""
    return flask.json("mail", "show", _letters(brand)[-1][2])["text"]


@pytest.mark.parametrize(
    ("script", "patience", "outcome", "code", "reason"),
    [
        (status(503, b"a secret of theirs"), nullcontext, "refused", 503, None),
        (hang(60), hasty, "unreachable", None, "no complete answer within 2 s"),
    ],
)
def test_a_failed_attempt_is_counted_and_is_one_line_of_the_log(
    endpoint, receiver, drain, lines, *, script, patience, outcome, code, reason
):
    receiver.answers = [script]
    before = _counted(outcome)

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
    assert _counted(outcome) == before + 1


def test_an_attempt_that_arrives_is_counted_and_says_nothing(endpoint, drain, lines):
    before = _counted("delivered")

    _sell(endpoint, drain)

    assert lines == []
    assert _counted("delivered") == before + 1


def test_a_url_that_may_not_be_called_is_unreachable(brand, receiver, drain, lines):
    brand.program()
    brand.affiliate("ben")
    _sell(Endpoint.create(brand, receiver.url.replace("https", "ftp")), drain)

    assert [(line["outcome"], line["reason"]) for line in lines] == [
        ("unreachable", "The URL must start with https://.")
    ]


def test_what_a_deleted_endpoint_was_to_get_is_no_attempt(endpoint, drain, lines):
    before = _counted("unreachable")
    assert endpoint.brand.sale().status_code == 200
    drain("sales")
    endpoint.delete()
    drain()

    assert endpoint.deliveries("failure_reason") == [("The endpoint was deleted.",)]
    assert (lines, _counted("unreachable")) == ([], before)


def test_an_endpoint_fails_from_its_first_failed_attempt_to_its_next_success(endpoint, receiver, drain):
    receiver.answers = [status(200), status(500), status(500), status(200)]
    states = []
    _sell(endpoint, drain)
    states.append(_outage(endpoint)[0])
    _sell(endpoint, drain)
    first = endpoint.brand.rows("select failing_since from webhook_endpoint")
    states.append(_outage(endpoint)[0])
    _again(endpoint, drain)
    later = endpoint.brand.rows("select failing_since from webhook_endpoint")
    _again(endpoint, drain)
    states.append(_outage(endpoint)[0])

    assert states == [False, True, False]
    assert later == first


def test_a_new_address_has_not_failed_yet(endpoint, receiver, drain):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)
    url = f"/api/v1/webhooks/{endpoint.id}"

    endpoint.brand.call("PATCH", url, {"url": f"{receiver.url}?token=hush", "description": "the same"})
    same = _outage(endpoint)
    endpoint.brand.call("PATCH", url, {"url": f"{receiver.url}/new"})

    assert (same, _outage(endpoint)) == ((True, False), (False, False))


def test_the_owners_get_a_letter_once_when_nothing_has_arrived_for_a_day(endpoint, receiver, drain, flask):
    receiver.answers = [status(500)]
    _sell(endpoint, drain)
    for _ in range(4):
        _again(endpoint, drain)

    _a_day_passes(drain, hours=23.9)
    early = _letters(endpoint.brand)
    _a_day_passes(drain, hours=0.2)
    _a_day_passes(drain)

    ((recipient, subject, _),) = _letters(endpoint.brand)
    told = _read(endpoint.brand, flask)
    assert early == []
    assert (recipient, subject) == ("owner@example.com", "Webhooks of Brand do not arrive")
    assert f"{receiver.url}\n" in told
    assert "hush" not in told
    assert "failed so far: 1\n  last attempt: answered 500" in told
    assert f"/api/v1/webhooks/{endpoint.id}/redeliver " in told
    assert _outage(endpoint) == (True, True)


def test_after_a_recovery_the_next_outage_is_told_anew(endpoint, receiver, drain):
    receiver.answers = [status(500), status(200), status(500)]
    _sell(endpoint, drain)
    _a_day_passes(drain)
    _again(endpoint, drain)
    recovered = _outage(endpoint)
    _sell(endpoint, drain)
    _a_day_passes(drain)

    assert recovered == (False, False)
    assert len(_letters(endpoint.brand)) == 2


def test_one_letter_names_all_endpoints_of_an_organization_and_no_other_ones(endpoint, rival, receiver, drain, flask):
    receiver.answers = [status(500)]
    second = Endpoint.create(endpoint.brand, f"{receiver.url}/second")
    theirs = Endpoint.create(rival, f"{receiver.url}/theirs")
    rival.program()
    rival.affiliate("ben")
    _sell(endpoint, drain)
    _sell(theirs, drain)
    _a_day_passes(drain)

    told = _read(endpoint.brand, flask)
    assert (len(_letters(endpoint.brand)), len(_letters(rival))) == (1, 1)
    assert str(endpoint.id) in told
    assert str(second.id) in told
    assert str(theirs.id) not in told


def test_nobody_is_written_to_about_an_endpoint_that_was_deleted_or_was_reached_after_all(endpoint, receiver, drain):
    gone = Endpoint.create(endpoint.brand, f"{receiver.url}/gone")
    receiver.answers = [status(500), status(500), status(200)]
    _sell(endpoint, drain)
    gone.delete()
    _again(endpoint, drain)
    # a success that was under way when the outage was noted
    endpoint.brand.rows(
        "update webhook_endpoint set failing_since = (select min(settled_at) from delivery where status = 'Delivered')"
        " - interval '1 second' where id = %s returning id",
        endpoint.id,
    )
    _a_day_passes(drain)

    assert _letters(endpoint.brand) == []
