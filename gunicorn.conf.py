"""gunicorn's settings, each with its reason."""

import gc
import os
import threading

import settings
from adapters import logs  # noqa: F401  # before gunicorn loads what would load more with structlog

try:
    _web = settings.current().web
except settings.BadSetting as error:
    raise SystemExit(f"finderfee: {error}") from error

# Only this machine by default: a server with TLS faces the internet (docs/deploy.md).
_host = f"[{_web.bind}]" if ":" in _web.bind else _web.bind
bind = _web.bind if _web.bind.startswith("unix:") else f"{_host}:{_web.port}"
# Reads a request completely before it gets a thread (decision 14). Routes mostly wait for PostgreSQL, so threads share
# a process; processes share the cores.
worker_class = "api.server.worker.EventLoopWorker"
workers = _web.processes
threads = _web.threads
# The application opens no connection until its first request, so one copy is forked into every worker.
preload_app = True
# Longer than the longest statement (15 s), so that the database times out first and the client gets a response.
timeout = 30
graceful_timeout = 20
# An idle client occupies no thread. Longer than a proxy in front keeps its connections (nginx: 60 s), so that it never
# sends a request into a connection that is being closed.
keepalive = 75
# The maximum number of clients of a worker; above it, those whose requests have been arriving longest are disconnected.
worker_connections = 4096
# Files are sent through the same buffer as every other response.
sendfile = False
# Limits a slow leak in a library; the jitter keeps workers from restarting together.
max_requests = 50_000
max_requests_jitter = 5_000
# Two instances on one machine would fight over its default path.
control_socket_disable = True
# The application writes one structured line per request itself.
accesslog = None
loglevel = "warning"


def when_ready(server: object) -> None:
    """Exclude loaded objects from garbage collection, which would give each worker its own copy of their pages."""
    gc.collect()
    gc.freeze()


def post_fork(server: object, worker: object) -> None:
    """Discard the inherited database connections, so that the forked worker opens its own."""
    from models import db

    db.db.forget_connections()


def post_worker_init(worker: object) -> None:
    """Read the database's clock in the background, without waiting for a database that is unavailable."""
    from models import db

    threading.Thread(target=db.read_clock, name="first-clock-read", daemon=True).start()


def child_exit(server: object, worker: object) -> None:
    """Remove this worker's gauges from the metrics folder."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[attr-defined]  # gunicorn has no types
