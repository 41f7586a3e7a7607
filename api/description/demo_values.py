"""The demo's key and ids, for the commands on /docs: only for who sits at the machine that `make run` runs on.

A page of theirs must not show it to a stranger, and a stranger's page in their browser must not read it.
"""

import ipaddress
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Request

import settings

# A browser says so when a script of some page asks; a person who opens the page sends none.
_BY_SCRIPT = "Origin"
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


def read_demo_values(request: Request) -> Mapping[str, str] | None:
    """Return what the demo brand is made of (`commands.demo`), or None for everybody but the demo's own developer.

    That is: the servers are the embedded ones, the request comes from this machine and from nowhere before it, and it
    names this machine as its host, which a page under another name cannot make a browser do.
    """
    chosen = settings.current()
    kept = chosen.servers.data_dir / "demo.json"
    if chosen.servers.database_url is not None or not kept.is_file() or not _is_local(request, chosen):
        return None
    try:
        found: dict[str, str] = json.loads(kept.read_text())
    except (OSError, ValueError):
        return None
    return found


def _is_local(request: Request, chosen: settings.Settings) -> bool:
    if _BY_SCRIPT in request.headers:
        return False
    is_forwarded = not chosen.web.trusted_proxies and any(name in request.headers for name in _FORWARDED)
    host = urlsplit(f"//{request.host}").hostname or ""
    return not is_forwarded and _is_loopback(request.remote_addr or "") and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
