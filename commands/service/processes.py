"""`flask relay|scheduler|clicks`: the processes that are not a web server and not a worker fleet."""

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

# A batch of clicks is tens of thousands of objects that hold no circles and are gone when it is written. Looked through
# for circles as often as usual, with all that was ever imported, they cost half as much again.
_OBJECTS_BETWEEN_LOOKS = 100_000


@click.command("relay")
def relay() -> None:
    """Hand due jobs to the broker until told to stop. Any number may run."""
    _need_tables()
    urls = servers.urls()
    broker.connect(urls.redis_url, urls.broker_url)
    _serve_numbers()
    Relay(redis_url=urls.redis_url, chosen=settings.current().jobs).run(_until_told())


@click.command("scheduler")
def schedule() -> None:
    """Fire what is due by the clock until told to stop. Any number may run."""
    _need_tables()
    scheduler.run(_until_told())


@click.command("clicks")
def clicks() -> None:
    """Write the clicks of the stream until told to stop. Any number may run."""
    _need_tables()
    urls = servers.urls()
    _serve_numbers()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)
    ClickConsumer(urls.redis_url, claim_s=settings.current().jobs.click_claim_s).run(_until_told())


@click.command("loops")
def loops() -> None:
    """Run relay, scheduler and writer of clicks in one process, a thread each, with a third of the memory."""
    _need_tables()
    chosen, urls = settings.current().jobs, servers.urls()
    broker.connect(urls.redis_url, urls.broker_url)
    _serve_numbers()
    told = _told()
    works = {
        "relay": Relay(redis_url=urls.redis_url, chosen=chosen).run,
        "scheduler": scheduler.run,
        "clicks": ClickConsumer(urls.redis_url, claim_s=chosen.click_claim_s).run,
    }
    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(_until_one_ends, work, told) for work in works.values()]
    for done in running:
        done.result()


def _until_one_ends(work: Callable[[Callable[[], bool]], None], told: threading.Event) -> None:
    """Work until told to stop, and stop the others when this one ends: a supervisor starts all of them again."""
    try:
        work(told.is_set)
    finally:
        told.set()


def _need_tables() -> None:
    """Log and exit on a database that was never migrated or cannot be. One that is unavailable is waited for."""
    is_empty = False
    try:
        with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
            is_empty = migrate.missing() == migrate.names()
    except steps.MigrationHalted as halt:
        _log.critical("database.cannot_be_migrated", next=str(halt))
        raise SystemExit(1) from halt
    if is_empty:
        _log.critical("database.lacks_migrations", next="flask db migrate")
        raise SystemExit(1)


def _serve_numbers() -> None:
    port = settings.current().monitoring.metrics_port
    if port:
        metrics.serve(port)


def _until_told() -> Callable[[], bool]:
    return _told().is_set


def _told() -> threading.Event:
    """Return what is set once a signal says to stop."""
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    return told
