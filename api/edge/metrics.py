"""The Prometheus page: counters of every process of this machine, and gauges queried at each scrape."""

import functools
import math
import os
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily, Metric

from adapters import broker, clock, servers
from adapters.broker import RedisError
from adapters.clicks import stream_reader
from adapters.clicks.stream import ClickStream
from adapters.clock import gauge
from api.edge.replica import collectors
from domain import jobs
from models import db
from models.jobs import admin_queries, processes
from models.ledger import results
from models.upkeep import connections, known_servers
from pipelines import fx_intake, partitions
from pipelines.operating import attention

gauge.publish_difference(db.database_clock)

_request_seconds = Histogram(
    "finderfee_request_seconds",
    "Duration of HTTP requests by route and status.",
    ["route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def observe_request(route: str, status: int, seconds: float) -> None:
    """Count one request."""
    _seconds_of(route, status).observe(seconds)


@functools.cache
def _seconds_of(route: str, status: int) -> Histogram:
    return _request_seconds.labels(route, str(status))


_refused_connections = Counter(
    "finderfee_refused_connections_total",
    "Connections closed before their request reached a route: late, too large, malformed, or to make room.",
    ["why"],
)


def count_refused_connection(why: str) -> None:
    """Count a connection that was closed before its request reached a route."""
    _refused_connections.labels(why).inc()


def exposition() -> bytes:
    """Return the page."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    else:
        from prometheus_client import REGISTRY as registry
    queues = CollectorRegistry()
    queues.register(_Queues())
    queues.register(_ClickStream())
    queues.register(_ClickWriters())
    queues.register(_FxRates())
    queues.register(_Ledger())
    queues.register(_OperatorWork())
    queues.register(_Connections())
    queues.register(_HeldPayouts())
    queues.register(collectors.ReplicaCollector())
    queues.register(collectors.LogSlotCollector())
    queues.register(_Partitions())
    return generate_latest(registry) + generate_latest(queues)


class _Queues:
    """The current number of jobs per queue and state, and the age of the oldest due job."""

    def collect(self) -> Iterator[Metric]:
        depth = GaugeMetricFamily("finderfee_queue_jobs", "Jobs in the table by state.", labels=["queue", "state"])
        age = GaugeMetricFamily("finderfee_queue_oldest_seconds", "Age of the oldest due job.", labels=["queue"])
        threads = GaugeMetricFamily("finderfee_worker_threads", "Live worker threads.", labels=["queue"])
        try:
            with db.any_org_work():
                counts = {row[0]: row for row in admin_queries.any_org_count_by_queue()}
                live = processes.count_live_threads()
        except db.UNAVAILABLE:
            return  # the counters matter most while the database is unavailable
        for queue in jobs.QUEUES:
            _, waiting, retrying, out, dead, oldest_s = counts.get(queue, (queue, 0, 0, 0, 0, 0))[:6]
            for state, number in (("waiting", waiting), ("retrying", retrying), ("out", out), ("dead", dead)):
                depth.add_metric([queue, state], number)
            age.add_metric([queue], oldest_s)
            threads.add_metric([queue], live.get(queue, 0))
        yield from (depth, age, threads)


class _ClickStream:
    """How many clicks wait on their stream to be written; nothing while its server is down."""

    def collect(self) -> Iterator[Metric]:
        try:
            waiting = ClickStream(servers.urls().redis_url).length()
        except RedisError:
            return
        yield GaugeMetricFamily(
            "finderfee_click_stream_length", "Clicks on their stream that are not written yet.", value=waiting
        )


class _ClickWriters:
    """The backlog of the click writers, and whether a restart of the stream's server would lose clicks."""

    def collect(self) -> Iterator[Metric]:
        client = broker.prompt_client(servers.urls().redis_url)
        try:
            backlog, is_kept = stream_reader.measure_backlog(client), stream_reader.is_persistent(client)
        except RedisError:
            return
        entries = GaugeMetricFamily(
            "finderfee_click_stream_entries",
            "Clicks that no writer has read yet (unread), and those that a writer is writing (in_hand).",
            labels=["state"],
        )
        entries.add_metric(["unread"], backlog.unread)
        entries.add_metric(["in_hand"], backlog.pending)
        yield entries
        yield GaugeMetricFamily(
            "finderfee_click_stream_kept_on_disk",
            "1 if the server of the stream writes an append-only file, 0 if a restart loses the clicks in it.",
            value=int(is_kept),
        )


class _Ledger:
    """The results of the last ledger checks."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                summary = results.any_org_summarize()
        except db.UNAVAILABLE:
            return
        organizations = GaugeMetricFamily(
            "finderfee_ledger_organizations", "Organizations by the result of their last check.", labels=["state"]
        )
        organizations.add_metric(["red"], summary.red)
        organizations.add_metric(["clean"], summary.checked - summary.red)
        yield organizations
        yield GaugeMetricFamily(
            "finderfee_ledger_check_oldest_seconds", "Age of the oldest last check.", value=summary.age_s
        )


class _FxRates:
    """The age of the newest rate of each currency in use; infinite without a rate."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                ages = fx_intake.any_org_list_ages(now=clock.now())
        except db.UNAVAILABLE:
            return
        oldest = GaugeMetricFamily(
            "finderfee_fx_rate_age_days",
            "Days since the newest rate of a currency in use was published; above 3, nobody is paid in it.",
            labels=["currency"],
        )
        for age in ages:
            oldest.add_metric([age.currency], math.inf if age.days is None else age.days)
        yield oldest


class _OperatorWork:
    """The counts of items that wait for an operator, as the console shows them."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                counts = attention.any_org_count(now=clock.now())
        except db.UNAVAILABLE:
            return
        waiting = GaugeMetricFamily("finderfee_waiting", "Items that wait for an operator.", labels=["what"])
        for what, count in counts.items():
            waiting.add_metric([what], count)
        yield waiting


class _Connections:
    """How many connections PostgreSQL has, and how many it allows."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                count = connections.count()
        except db.UNAVAILABLE:
            return
        yield GaugeMetricFamily(
            "finderfee_database_connections", "Connections that PostgreSQL has, of all clients.", value=count.open
        )
        yield GaugeMetricFamily(
            "finderfee_database_connections_allowed", "Connections that PostgreSQL allows.", value=count.allowed
        )


class _Partitions:
    """For how many of this and the next month a table has no partition."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                tables = partitions.list_tables(now=clock.now())
        except db.UNAVAILABLE:
            return
        missing = GaugeMetricFamily(
            "finderfee_partition_months_missing",
            "How many of this and the next month have no partition.",
            labels=["table"],
        )
        for table in tables:
            missing.add_metric([table.table], len(table.missing))
        yield missing


class _HeldPayouts:
    """Whether payouts are on hold because the database may have lost some."""

    def collect(self) -> Iterator[Metric]:
        try:
            with db.any_org_work():
                is_known = known_servers.is_known()
        except db.UNAVAILABLE:
            return
        yield GaugeMetricFamily(
            "finderfee_payouts_held",
            "1 after a restore or a failover, until an operator releases them.",
            value=not is_known,
        )
