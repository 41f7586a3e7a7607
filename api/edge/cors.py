"""CORS: pages of the service's own surfaces and of the brands' portals may read our answers, no others.

Source: core spec, section 8 "CORS". Servers send no Origin and are not affected. Credentials are bearer tokens and
never cookies, so Access-Control-Allow-Credentials is not sent.
"""

import contextlib
import threading
import time
from urllib.parse import urlsplit

from flask import Response, current_app, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

import settings
from api.access import unknown_senders
from api.edge import compression
from api.edge.operations import Operation
from models import db
from models.programs import programs

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_HEADERS = "Authorization, Content-Type, Accept, Idempotency-Key, X-Request-Id"
_EXPOSED = "Idempotency-Replayed, Deprecation, Retry-After, X-Request-Id"
_PREFLIGHT_S = "600"
_CACHE_S = 60.0
_CACHE_SIZE = 10_000

# Hosts and until when they are cached. Hosts that are no portal have a cache of their own, so that no number of them
# evicts a portal.
_portals: dict[str, float] = {}
_other_hosts: dict[str, float] = {}
_lock = threading.Lock()


def answer_preflight() -> Response | None:
    """Return the answer to a browser's preflight request; None for every other request."""
    if request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
        return None
    answer = Response(status=204)
    if _is_allowed():
        answer.headers["Access-Control-Allow-Methods"] = _METHODS
        answer.headers["Access-Control-Allow-Headers"] = _HEADERS
        answer.headers["Access-Control-Max-Age"] = _PREFLIGHT_S
    return answer


def add_headers(answer: Response) -> Response:
    """Add the headers that let the requesting page read an answer, if it may."""
    # Also without an Origin: a cache must not return this answer to a page.
    compression.add_vary(answer, "Origin")
    origin = request.environ.get("HTTP_ORIGIN")
    if origin is not None and _is_allowed():
        for name, value in headers_for(origin):
            answer.headers.add(name, value)
    return answer


def headers_for(origin: str) -> list[tuple[str, str]]:
    """Return the headers that let the pages of an origin read an answer."""
    return [("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", _EXPOSED)]


def _is_allowed() -> bool:
    about = getattr(current_app.view_functions.get(_endpoint()), "operation", None)
    if isinstance(about, Operation):
        if about.guard.open_cors:
            return True
        if about.guard.closed_cors:
            return False
    return is_own_origin(request.headers.get("Origin", ""))


def _endpoint() -> str:
    """Return the endpoint at the address; if it does not accept the method, the one that accepts another method."""
    error = request.routing_exception
    if isinstance(error, MethodNotAllowed):
        addresses = current_app.url_map.bind("")
        # Sorted, because the methods are a set. A method may belong to another rule that only resembles this address.
        for method in sorted(error.valid_methods or ()):
            with contextlib.suppress(HTTPException):
                endpoint, _ = addresses.match(request.path, method=method)
                return str(endpoint)
    return request.endpoint or ""


def is_own_origin(origin: str) -> bool:
    """Return whether an origin is a surface of the service or a portal of one of its brands."""
    web = settings.current().web
    if origin in web.cors_origins or origin == _origin_from_url(web.url):
        return True
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
    except ValueError:
        return False
    # A browser sends the scheme and host in lower case, without a default port.
    return parts.scheme == "https" and origin == f"https://{host}" and _is_portal(host, web.portal_domain)


def _origin_from_url(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _is_portal(host: str, portal_domain: str | None) -> bool:
    now = time.monotonic()
    was_portal = host in _portals
    if _portals.get(host, 0.0) > now:
        return True
    if _other_hosts.get(host, 0.0) > now or (not was_portal and unknown_senders.is_blocked()):
        return False
    handle = host.removesuffix(f".{portal_domain}") if portal_domain else host
    try:
        with db.any_org_work():
            is_portal = programs.any_org_is_portal_host(host=host, handle=handle if handle != host else None)
    except db.UNAVAILABLE:
        return False  # only the headers are missing; the answer itself does not change
    if not is_portal:
        unknown_senders.count_unknown()
    _remember(host, is_portal, now + _CACHE_S)
    return is_portal


def _remember(host: str, is_portal: bool, until: float) -> None:
    cache, other = (_portals, _other_hosts) if is_portal else (_other_hosts, _portals)
    with _lock:
        other.pop(host, None)
        if len(cache) >= _CACHE_SIZE:
            cache.clear()
        cache[host] = until


def clear_cache() -> None:
    """Clear the cache of hosts: between tests."""
    with _lock:
        _portals.clear()
        _other_hosts.clear()
