"""`flask relay|scheduler|clicks|loops`: the processes besides the web server and the workers."""

import contextlib
import gc
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import click
import structlog

import settings
from adapters import servers
from models import db, migrate
from models.schema import steps
from workers import broker, metrics, scheduler
from workers.clicks import ClickConsumer
from workers.relay import Relay

_log = structlog.get_logger(__name__)

# A batch of clicks is tens of thousands of objects without reference cycles, freed when it is written. Garbage
# collection at the default threshold, over everything imported, would add half to their cost.
_GC_THRESHOLD = 100_000


@click.command("relay")
def relay() -> None:
    """Dispatch due jobs to the broker until stopped. Any number may run."""
    _require_tables()
    urls = servers.urls()
    broker.connect(urls.redis_url, urls.broker_url)
    _serve_metrics()
    Relay(redis_url=urls.redis_url, config=settings.current().jobs).run(_stop_check())


@click.command("scheduler")
def schedule() -> None:
    """Start scheduled jobs until stopped. Any number may run."""
    _require_tables()
    scheduler.run(_stop_check())


@click.command("clicks")
def clicks() -> None:
    """Write the clicks of the stream until stopped. Any number may run."""
    _require_tables()
    urls = servers.urls()
    _serve_metrics()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    ClickConsumer(urls.redis_url, claim_s=settings.current().jobs.click_claim_s).run(_stop_check())


@click.command("loops")
def loops() -> None:
    """Run relay, scheduler and click writer as threads of one process, with a third of the memory."""
    _require_tables()
    config, urls = settings.current().jobs, servers.urls()
    broker.connect(urls.redis_url, urls.broker_url)
    _serve_metrics()
    stop = _stop_event()
    works = {
        "relay": Relay(redis_url=urls.redis_url, config=config).run,
        "scheduler": scheduler.run,
        "clicks": ClickConsumer(urls.redis_url, claim_s=config.click_claim_s).run,
    }
    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(_run_until_stopped, work, stop) for work in works.values()]
    for done in running:
        done.result()


def _run_until_stopped(work: Callable[[Callable[[], bool]], None], stop: threading.Event) -> None:
    """Run a loop until stopped; if it ends by itself, stop the others: a supervisor starts all of them again."""
    try:
        work(stop.is_set)
    finally:
        stop.set()


def _require_tables() -> None:
    """Log and exit if the database has no tables or cannot be migrated. An unavailable database is no error."""
    is_empty = False
    try:
        with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
            is_empty = migrate.list_missing() == migrate.names()
    except steps.MigrationHalted as halt:
        _log.critical("database.cannot_be_migrated", next=str(halt))
        raise SystemExit(1) from halt
    if is_empty:
        _log.critical("database.lacks_migrations", next="flask db migrate")
        raise SystemExit(1)


def _serve_metrics() -> None:
    port = settings.current().monitoring.metrics_port
    if port:
        metrics.serve(port)


def _stop_check() -> Callable[[], bool]:
    return _stop_event().is_set


def _stop_event() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop
