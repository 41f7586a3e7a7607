"""No log line of a route, a job or a library contains customer data or a secret."""

import dataclasses
import json
import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path

import peewee
import pytest
import structlog

import settings
from adapters import logs
from models import db

_EMAIL = "ann@secret.example.com"

# Everything that logs, at debug level: accepted and rejected sales, an application, a route and jobs that fail on a row
# with a customer in it. Prints what must not be in the log.
_SCRIPT = """
import json, sys
import dramatiq
from dramatiq.middleware import TimeLimitExceeded
from app import create_app
from models import db, ids
from models.jobs import rows
from models.jobs.rows import ClaimedJob
from domain import jobs
from pipelines import work
from workers import fleet
from workers.actor import database_job
from tests.support import job_queues
from tests.support.rows.brands import Brand

EMAIL = sys.argv[1]
app = create_app()
fleet.load()

def collide():
    for _ in range(2):
        db.db.run("insert into queue_pause (queue) values (%s)", (f"Ann\\n\\nSecretname {EMAIL}",))

def failing_route():
    with db.any_org_work():
        collide()
failing_route.guard = None
app.add_url_rule("/fails", view_func=failing_route)

@database_job(jobs.Job("test.fails", queue="upkeep"))
def fails(job: ClaimedJob) -> None:
    with db.savepoint():
        collide()

@database_job(jobs.Job("test.chained", queue="upkeep"))
def chained(job: ClaimedJob) -> None:
    try:
        collide()
    except Exception as error:
        raise LookupError("nothing there") from error

@database_job(jobs.Job("test.interrupted", queue="upkeep"))
def interrupted(job: ClaimedJob) -> None:
    try:
        collide()
    except Exception as error:
        raise TimeLimitExceeded from error

brand = Brand.create(app)
program = brand.program(auto_approve=True)
brand.affiliate("ben")
person = {"customerEmail": EMAIL, "customerName": "Ann Secretname"}
answers = [
    brand.sale(**person, externalEventId="order-1"),
    brand.sale(**person, amountCents="1"),
    brand.sale(**person, affiliateSlug="unknown"),
    brand.post_signed("/api/tracking/s2s", b'{"customerEmail": "' + EMAIL.encode()),
    brand.call("POST", "/api/tracking/s2s", b"{}", X_Service_Signature="t=1,sig=" + "a" * 64),
    brand.refund("order-1", 100, Idempotency_Key="idempotency-secretname"),
    brand.endpoint("https://localhost:1/secretname"),
    brand.post("/api/v1/affiliates", {"programId": str(program), "email": EMAIL, "fullName": "Ann Secretname"}),
    app.test_client().post(f"/api/p/id/{program}/apply", json={"email": EMAIL, "fullName": "Ann Secretname"}),
    app.test_client().get("/fails"),
]
with db.any_org_work():
    for name in ("test.fails", "test.chained"):
        work.enqueue(jobs.Job(name, queue="upkeep"), organization_id=brand.id)
job_queues.drain()
with db.any_org_work():
    work.enqueue(jobs.Job("test.interrupted", queue="upkeep"), organization_id=brand.id)
worker = dramatiq.Worker(fleet.connected, queues={"upkeep"}, worker_threads=1, worker_timeout=50)
worker.start()
with db.any_org_work():
    handed_out = rows.any_org_dispatch(queue="upkeep", per_thread=16, share=9, lease_s=30)
for pointer in handed_out:
    fleet.connected.enqueue(
        dramatiq.Message(pointer.queue, pointer.name, (), {"job_id": pointer.job_id, "attempt": pointer.attempt}, {})
    )
fleet.connected.join("upkeep", timeout=60_000)
worker.stop(timeout=60_000)
secrets = [brand.api_key, brand.signing_secret, EMAIL, "Secretname", "secretname", "whsec_", "a" * 64]
print(json.dumps({"secrets": secrets, "answers": [getattr(answer, "status_code", 0) for answer in answers]}))
"""


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_debug_log_contains_no_customer_data_and_no_secret(app, log_format):
    db.db.drop_connection()

    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT, _EMAIL],
        env={**os.environ, "LOG_LEVEL": "debug", "LOG_FORMAT": log_format},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    output = json.loads(result.stdout)

    assert output["answers"] == [200, 400, 400, 400, 401, 200, 0, 201, 200, 500]
    for name in ("test.fails", "test.chained", "test.interrupted", "TimeLimitExceeded", "request.failed", "/fails"):
        assert name in result.stderr, name
    assert result.stderr.count("UniqueViolation") >= 2
    assert [secret for secret in output["secrets"] if secret in result.stderr] == []


def _unique_violation() -> peewee.IntegrityError:
    with pytest.raises(peewee.IntegrityError) as caught, db.any_org_work():
        db.db.run("insert into queue_pause (queue) values (%s), (%s)", (_EMAIL, _EMAIL))
    return caught.value


def test_row_quoted_by_a_constraint_error_is_removed(app):
    text = str(_unique_violation())

    assert _EMAIL in text
    assert logs.strip_values(text) == 'duplicate key value violates unique constraint "queue_pause_pkey"'


def test_statement_quoted_by_an_error_is_removed(app):
    with pytest.raises(peewee.ProgrammingError) as caught, db.any_org_work():
        db.db.run("select %s, nothing_of_that_name", (_EMAIL,))

    assert _EMAIL in str(caught.value)
    assert logs.strip_values(str(caught.value)) == 'column "nothing_of_that_name" does not exist'


def test_multi_line_value_is_removed_completely():
    text = (
        "Bad: no\nDETAIL:  Failing row contains (1, Ann\n\nann@x, ...).\n\nThe above exception was the cause\n\nEnd: x"
    )

    assert logs.strip_values(text) == "Bad: no\n\nThe above exception was the cause\n\nEnd: x"


def test_text_without_quoted_values_is_unchanged():
    text = 'Traceback (most recent call last):\n  File "x.py", line 1, in f\nValueError: the details are elsewhere'

    assert logs.strip_values(text) == text


@pytest.fixture
def library_handler(app):
    """Return a function that configures logging for a format and returns the root handler; undone afterwards."""

    def configure(log_format):
        logs.configure(dataclasses.replace(settings.current().monitoring, log_format=log_format))
        (handler,) = [
            handler
            for handler in logging.getLogger().handlers
            if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter)
        ]
        return handler

    yield configure
    logs.configure(settings.current().monitoring)


def test_library_record_is_json_with_a_clean_traceback(library_handler):
    error = _unique_violation()
    record = logging.LogRecord(
        "dramatiq", logging.ERROR, "x.py", 1, "Failed %s", ("once",), (type(error), error, error.__traceback__)
    )

    line = library_handler("json").format(record)

    entry = json.loads(line)
    assert "\n" not in line
    assert (entry["event"], entry["level"], entry["logger"]) == ("Failed once", "error", "dramatiq")
    assert entry["exception"].startswith("Traceback (most recent call last):\n")
    assert "UniqueViolation" in entry["exception"]
    assert _EMAIL not in line


def test_traceback_inside_a_library_message_is_cleaned(library_handler):
    text = "".join(traceback.format_exception(_unique_violation()))
    record = logging.LogRecord("dramatiq", logging.WARNING, "x.py", 1, text, (), None)

    line = library_handler("json").format(record)

    assert "UniqueViolation" in json.loads(line)["event"]
    assert _EMAIL not in line


def test_library_record_is_plain_text_on_a_console(library_handler):
    record = logging.LogRecord("dramatiq", logging.ERROR, "x.py", 1, "Failed", (), None)

    line = library_handler("console").format(record)

    assert "Failed" in line
    assert not line.startswith("{")


def test_invalid_unicode_is_logged_escaped():
    assert logs._dumps({"error": "a \ud800", "n": 1}) == '{"error": "a \\ud800", "n": 1}'
