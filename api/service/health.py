"""Liveness, readiness and metrics of the process."""

import hmac
import threading
import time

from flask import Blueprint, Response, request
from prometheus_client import CONTENT_TYPE_LATEST

import settings
from adapters import broker, metrics_hosts, servers
from api.access.guards import Guard
from api.edge import metrics
from api.edge.operations import object_of, operation, text
from domain.refusals import Refused
from models import db, migrate
from models.schema import steps
from schemas.health import Readiness
from settings.version import VERSION

blueprint = Blueprint("health", __name__)

_OPEN = Guard(audience="public", bucket=None)
_READINESS = Readiness()

_UNREACHABLE = "unreachable (sales are accepted and wait in the database)"

#: For how long a process caches its readiness.
_CACHE_S = 1.0


class _ReadinessCache:
    """The readiness of this process, cached for a second.

    There is no rate limit: behind a proxy a stranger who uses up the limit would take it from the load balancer that
    decides whether this process gets requests. So the check runs once a second at most.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status: dict[str, str] = {}
        self._until = 0.0

    def status(self) -> dict[str, str]:
        """Return the status of database and broker, at most _CACHE_S old."""
        with self._lock:
            if self._until <= time.monotonic():
                self._status = {"database": _database_status(), "broker": _broker_status()}
                self._until = time.monotonic() + _CACHE_S
            return self._status

    def forget(self) -> None:
        """Check again at the next request: between tests."""
        self._until = 0.0


readiness = _ReadinessCache()


@blueprint.get("/healthz")
@operation(_OPEN, text("text/plain"), samples={"text/plain": f"ok {VERSION}\n"})
def get_health() -> Response:
    """200 while the process answers, with the version of the service."""
    return Response(f"ok {VERSION}\n", content_type="text/plain")


@blueprint.get("/readyz")
@operation(_OPEN, object_of(_READINESS), gives_at=(503,))
def get_readiness() -> tuple[dict[str, str], int]:
    """200 if the database is reachable and migrated; a missing broker is reported, but sales are still accepted."""
    status = readiness.status()
    return status, 200 if status["database"] == "ok" else 503


def _database_status() -> str:
    try:
        with db.any_org_work():
            missing = migrate.list_missing()
    except db.UNAVAILABLE:
        return "unreachable"
    except steps.MigrationHalted as halt:
        return str(halt)
    return "ok" if not missing else f"migrations missing: {', '.join(missing)}"


def _broker_status() -> str:
    urls = servers.urls()
    try:
        broker.client(urls.redis_url).ping()
    except broker.RedisError:
        return _UNREACHABLE
    return "ok" if urls.broker_url is None or broker.is_rabbitmq_reachable(urls.broker_url) else _UNREACHABLE


@blueprint.get("/metrics")
@operation(_OPEN, text("text/plain"), refuses=("401",), samples={"text/plain": "finderfee_clicks_lost_total 0.0\n"})
def get_metrics() -> Response:
    """Prometheus text. For METRICS_TOKEN as the bearer, or for a caller on this machine when none is set.

    It responds at localhost, at the host of PUBLIC_BASE_URL and at METRICS_HOSTS, and is 404 at every other host.
    """
    if not metrics_hosts.is_allowed(request.host):
        raise _no_address()
    token = settings.current().monitoring.metrics_token
    if token:
        authorization = request.headers.get("Authorization", "")
        if not hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            raise Refused(401)
    elif request.remote_addr not in ("127.0.0.1", "::1", None) or "X-Forwarded-For" in request.headers:
        raise _no_address()
    return Response(metrics.exposition(), content_type=CONTENT_TYPE_LATEST)


def _no_address() -> Refused:
    return Refused(404, "not_found", "There is no such address.")
