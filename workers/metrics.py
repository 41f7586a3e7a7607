"""Counters of the worker processes and the relay. Processes of one machine share a folder; /metrics adds them up."""

import os
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, make_wsgi_app, multiprocess

from adapters import metrics_hosts
from adapters.clock import gauge
from models import db

gauge.publish_difference(db.database_clock)

_jobs = Counter("finderfee_job_attempts_total", "Attempts of jobs by outcome.", ["job", "outcome"])
_job_seconds = Histogram(
    "finderfee_job_seconds",
    "How long a worker thread was busy with a job, and with those it took along.",
    ["job"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_batch_size = Histogram(
    "finderfee_job_batch_size",
    "How many jobs a worker that was behind did at a time.",
    ["job"],
    buckets=(2, 5, 10, 20, 50),
)
_failed_batches = Counter(
    "finderfee_job_batches_failed_total", "Batches that failed; the job that was handed out then went alone.", ["job"]
)
_handed_out = Counter("finderfee_jobs_handed_out_total", "Jobs handed to the broker.", ["queue"])

_webhooks = Counter(
    "finderfee_webhook_attempts_total", "Attempts to deliver a webhook by what came of it.", ["outcome"]
)
for _outcome in ("delivered", "refused", "unreachable"):  # an alert needs a 0 before the first failure
    _webhooks.labels(_outcome)

_clicks = Counter("finderfee_clicks_written_total", "Clicks that were written, by whether they repeat one.", ["kind"])
_unreadable_clicks = Counter("finderfee_clicks_unreadable_total", "Clicks that became dead letters.")


def count_jobs(job: str, outcome: str, number: int = 1) -> None:
    """Count attempts with this outcome."""
    _jobs.labels(job, outcome).inc(number)
    if number > 1:
        _batch_size.labels(job).observe(number)


def time_job(job: str, seconds: float) -> None:
    """Observe how long a thread was busy with a job or a batch."""
    _job_seconds.labels(job).observe(seconds)


def count_failed_batch(job: str) -> None:
    """Count one batch that failed, so that its jobs run singly."""
    _failed_batches.labels(job).inc()


def count_handed_out(queue: str) -> None:
    """Count one job that the relay dispatched."""
    _handed_out.labels(queue).inc()


def count_webhook(outcome: str) -> None:
    """Count one attempt to deliver a webhook: delivered, refused or unreachable."""
    _webhooks.labels(outcome).inc()


def count_clicks(*, new: int, duplicates: int) -> None:
    """Count the clicks of a batch; `new` includes the duplicates."""
    _clicks.labels("first").inc(new - duplicates)
    _clicks.labels("duplicate").inc(duplicates)


def count_unreadable_click() -> None:
    """Count one click that could not be written."""
    _unreadable_clicks.inc()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _SilentHandler(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Log nothing: Prometheus scrapes every few seconds."""


def serve(port: int) -> WSGIServer | None:
    """Serve this machine's counters on `port`, for fleets that share no machine with a web server.

    The first process of a machine gets the port and serves the metrics of all that share its metrics folder; for the
    others this returns None. It answers at the same hosts as `/metrics` of a web process, and with 404 at any other.
    """
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    try:
        server = _Server(("0.0.0.0", port), _SilentHandler)  # noqa: S104  # Prometheus is on another machine
    except OSError:
        return None
    server.set_app(_at_allowed_hosts(make_wsgi_app(registry)))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


def _at_allowed_hosts(exposition: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if metrics_hosts.is_allowed(environ.get("HTTP_HOST", "")):
            return exposition(environ, start_response)
        start_response("404 Not Found", [("Content-Length", "0")])
        return []

    return answer
