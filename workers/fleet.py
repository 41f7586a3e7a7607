"""The modules of a worker process of `python -m workers -Q <queue>`: the broker, and the actors of its queues."""

import importlib
from collections.abc import Iterable

import settings
from adapters import clock, logs, servers
from adapters.tracing import export
from domain.jobs import QUEUES
from models import db
from workers import actor, broker, unknown_jobs

_chosen = settings.current()
logs.configure(_chosen.monitoring)
export.configure(_chosen.monitoring)
db.connect_to(
    servers.urls().database_url,
    idle_timeout_s=actor.idle_timeout_s(_chosen.jobs.lease_s),
    is_pooled=_chosen.servers.is_pooled,
)
clock.use_database_clock(db.database_clock)
# Actors can only be declared once this broker is set.
connected = broker.connect(servers.urls().redis_url, servers.urls().broker_url)
unknown_jobs.register_unknown_job()


def load(queues: Iterable[str] = QUEUES) -> None:
    """Declare the actors of these queues, one module each; those of other queues would only use memory."""
    for queue in queues:
        importlib.import_module(f"workers.queues.{queue}")
