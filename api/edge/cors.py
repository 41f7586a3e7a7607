"""Which pages of other origins may read our answers: the service's own surfaces, the brands' portals, nobody else's.

Source: core spec, section 8 "CORS". Servers send no Origin and are not concerned. Credentials are bearer tokens and
never cookies, so none are asked for.
"""

import contextlib
import threading
import time
from urllib.parse import urlsplit

from flask import Response, current_app, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

import settings
from api.access import strangers
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

# Until when. Hosts that are nobody's are kept apart: however many are named, none pushes out a portal.
_portals: dict[str, float] = {}
_nobodys: dict[str, float] = {}
_lock = threading.Lock()


def answer_preflight() -> Response | None:
    """Answer a browser that asks before it sends; None for every other request."""
    if request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
        return None
    answer = Response(status=204)
    if _is_let_in():
        answer.headers["Access-Control-Allow-Methods"] = _METHODS
        answer.headers["Access-Control-Allow-Headers"] = _HEADERS
        answer.headers["Access-Control-Max-Age"] = _PREFLIGHT_S
    return answer


def mark(answer: Response) -> Response:
    """Say on an answer whether the asking page may read it."""
    # Also when no page asks: a cache that has this answer must not give it to one.
    compression.depends_on(answer, "Origin")
    origin = request.environ.get("HTTP_ORIGIN")
    if origin is not None and _is_let_in():
        for name, value in marks(origin):
            answer.headers.add(name, value)
    return answer


def marks(origin: str) -> list[tuple[str, str]]:
    """Return the headers that let the pages of an origin read an answer."""
    return [("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", _EXPOSED)]


def _is_let_in() -> bool:
    about = getattr(current_app.view_functions.get(_endpoint()), "operation", None)
    if isinstance(about, Operation):
        if about.guard.open_cors:
            return True
        if about.guard.closed_cors:
            return False
    return is_ours(request.headers.get("Origin", ""))


def _endpoint() -> str:
    """Return what answers at the address; where it does not take the method, what answers there to another one."""
    refused = request.routing_exception
    if isinstance(refused, MethodNotAllowed):
        addresses = current_app.url_map.bind("")
        # Sorted: what is named comes from a set. A method may be named for an address that only looks like this one.
        for method in sorted(refused.valid_methods or ()):
            with contextlib.suppress(HTTPException):
                found, _ = addresses.match(request.path, method=method)
                return str(found)
    return request.endpoint or ""


def is_ours(origin: str) -> bool:
    """Say whether an origin is a surface of the service or of one of its brands."""
    chosen = settings.current().web
    if origin in chosen.cors_origins or origin == _origin_of(chosen.url):
        return True
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
    except ValueError:
        return False
    # What is compared is what a browser sends: scheme and host in lower case, no port, nothing after it.
    return parts.scheme == "https" and origin == f"https://{host}" and _is_portal(host, chosen.portal_domain)


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _is_portal(host: str, portal_domain: str | None) -> bool:
    now = time.monotonic()
    was_portal = host in _portals
    if _portals.get(host, 0.0) > now:
        return True
    if _nobodys.get(host, 0.0) > now or (not was_portal and strangers.are_stopped()):
        return False
    handle = host.removesuffix(f".{portal_domain}") if portal_domain else host
    try:
        with db.any_org_work():
            found = programs.any_org_is_portal_host(host=host, handle=handle if handle != host else None)
    except db.UNAVAILABLE:
        return False  # the page is refused for now; the answer it asked for stays what it is
    if not found:
        strangers.count()
    _remember(host, found, now + _CACHE_S)
    return found


def _remember(host: str, is_portal: bool, until: float) -> None:
    kept, other = (_portals, _nobodys) if is_portal else (_nobodys, _portals)
    with _lock:
        other.pop(host, None)
        if len(kept) >= _CACHE_SIZE:
            kept.clear()
        kept[host] = until


def forget_known() -> None:
    """Forget which hosts are portals: between tests."""
    with _lock:
        _portals.clear()
        _nobodys.clear()
