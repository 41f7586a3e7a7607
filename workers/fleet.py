"""What a worker process of `python -m workers -Q <queue>` loads: the broker and every actor, one module per queue."""

import importlib

import settings
from adapters import logs, servers
from domain.jobs import QUEUES
from models import db
from workers import actor, broker

logs.configure(settings.current().monitoring)
db.connect_to(servers.urls().database_url, silence_s=actor.silence_s(settings.current().jobs.lease_s))
connected = broker.connect(servers.urls().redis_url)

# Actors can only be declared once the broker is ours.
for queue in QUEUES:
    importlib.import_module(f"workers.queues.{queue}")
actor.register_unknown()
