"""`flask relay|scheduler|clicks`: the processes that are not a web server and not a worker fleet."""

import contextlib
import signal
import threading
from collections.abc import Callable

import click
import structlog

import settings
from adapters import servers
from models import db, migrate
from workers import broker, metrics, scheduler
from workers.clicks import ClickConsumer
from workers.relay import Relay

_log = structlog.get_logger(__name__)


@click.command("relay")
def relay() -> None:
    """Hand due jobs to the broker until told to stop. Any number may run."""
    _need_tables()
    urls = servers.urls()
    broker.connect(urls.redis_url)
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
    port = settings.current().monitoring.metrics_port
    if port:
        metrics.serve(port)
    ClickConsumer(urls.redis_url, claim_s=settings.current().jobs.click_claim_s).run(_until_told())


def _need_tables() -> None:
    """End with a line of the log on a database that was never migrated. One that is away is waited for."""
    is_empty = False
    with contextlib.suppress(*db.UNAVAILABLE), db.any_org_work():
        is_empty = migrate.missing() == migrate.names()
    if is_empty:
        _log.critical("database.lacks_migrations", next="flask db migrate")
        raise SystemExit(1)


def _until_told() -> Callable[[], bool]:
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    return told.is_set
