"""The Prometheus page: counters of every process of this machine, and gauges read from the job table when asked."""

import os
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily, Metric

from models import db, job_rows
from pipelines import jobs

_request_seconds = Histogram(
    "finderfee_request_seconds",
    "Duration of HTTP requests by route and status.",
    ["route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def observe_request(route: str, status: int, seconds: float) -> None:
    """Count one request."""
    _request_seconds.labels(route, str(status)).observe(seconds)


def exposition() -> bytes:
    """Return the page."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    else:
        from prometheus_client import REGISTRY as registry
    queues = CollectorRegistry()
    queues.register(_Queues())
    return generate_latest(registry) + generate_latest(queues)


class _Queues:
    """Depth, age and dead letters per queue, as the job table has them now."""

    def collect(self) -> Iterator[Metric]:
        depth = GaugeMetricFamily("finderfee_queue_jobs", "Jobs in the table by state.", labels=["queue", "state"])
        age = GaugeMetricFamily("finderfee_queue_oldest_seconds", "Age of the oldest due job.", labels=["queue"])
        threads = GaugeMetricFamily("finderfee_worker_threads", "Live worker threads.", labels=["queue"])
        try:
            with db.any_org_work():
                counts = {row[0]: row for row in job_rows.any_org_counts()}
                live = job_rows.live_threads()
        except db.UNAVAILABLE:
            return  # the counters matter most while the database is away
        for queue in jobs.QUEUES:
            _, waiting, retrying, out, dead, oldest_s = counts.get(queue, (queue, 0, 0, 0, 0, 0))
            for state, number in (("waiting", waiting), ("retrying", retrying), ("out", out), ("dead", dead)):
                depth.add_metric([queue, state], number)
            age.add_metric([queue], oldest_s)
            threads.add_metric([queue], live.get(queue, 0))
        yield from (depth, age, threads)
