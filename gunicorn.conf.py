"""gunicorn's settings, each with its reason."""

import gc
import os
import threading

import settings
from adapters import logs  # noqa: F401  # before gunicorn loads what would load more with structlog

_chosen = settings.current().web

# This machine alone, unless somebody says otherwise: what faces the world is a server with TLS (docs/deploy.md).
_host = f"[{_chosen.bind}]" if ":" in _chosen.bind else _chosen.bind
bind = _chosen.bind if _chosen.bind.startswith("unix:") else f"{_host}:{_chosen.port}"
# Reads requests whole before it gives them a thread (decision 14). A route waits for PostgreSQL most of its time, so
# threads share a process; processes share the cores.
worker_class = "api.server.worker.Front"
workers = _chosen.processes
threads = _chosen.threads
# The application opens nothing until its first request, so one copy of it is forked into every worker.
preload_app = True
# Longer than the longest statement (15 s), so that the database gives up first and the client gets an answer.
timeout = 30
graceful_timeout = 20
# An idle client costs no thread. Longer than a server in front keeps its connections to us (nginx: 60 s), so that it
# never sends a request into one that is just being closed.
keepalive = 75
# How many clients a worker holds at once; when more come, those that have been arriving for the longest go.
worker_connections = 4096
# A file's bytes go through the same outbox as every other answer's.
sendfile = False
# Bounds what a slow leak in a library could grow to; the jitter keeps workers from restarting together.
max_requests = 50_000
max_requests_jitter = 5_000
# Two instances on one machine would fight over its default path.
control_socket_disable = True
# The application writes one structured line per request itself.
accesslog = None
loglevel = "warning"


def when_ready(server: object) -> None:
    """Keep the collector off what is loaded: a look at it would give each worker a copy of its pages."""
    gc.collect()
    gc.freeze()


def post_fork(server: object, worker: object) -> None:
    """Give the forked worker connections of its own."""
    from models import db

    db.db.forget_connections()


def post_worker_init(worker: object) -> None:
    """Read the database's clock, which requests are judged by; not waiting for a database that is away."""
    from models import db

    threading.Thread(target=db.read_clock, name="first-clock-reading", daemon=True).start()


def child_exit(server: object, worker: object) -> None:
    """Tell the metrics folder that this worker's gauges are history."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[attr-defined]  # gunicorn has no types
