"""What a worker process of `python -m workers -Q <queue>` loads: the broker and every actor, one module per queue."""

import importlib

import settings
from adapters import logs, servers
from models import db
from workers import actor, broker

logs.configure(settings.current().monitoring)
db.connect_to(servers.urls().database_url, silence_s=actor.silence_s(settings.current().jobs.lease_s))
connected = broker.connect(servers.urls().redis_url)

#: The modules that declare actors; they can only be loaded once the broker is ours.
ACTOR_MODULES = (
    "workers.queues.sales",
    "workers.queues.refunds",
    "workers.queues.tracking",
    "workers.queues.webhooks",
    "workers.queues.payouts",
    "workers.queues.mail",
    "workers.queues.imports",
    "workers.queues.upkeep",
)
for module in ACTOR_MODULES:
    importlib.import_module(module)
actor.register_unknown()
