"""The demo's key and ids, for the commands on /docs: only for the person at the machine that `make run` runs on.

The page must not show them to a stranger, and a stranger's page in that person's browser must not read them.
"""

import ipaddress
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import Request

import settings

# A browser sends it when a script requests the page; a person who opens the page sends none.
_BY_SCRIPT = "Origin"
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


def read_demo_values(request: Request) -> Mapping[str, str] | None:
    """Return the demo's key and ids (`commands.demo`), or None for any caller but the demo's own developer.

    The developer's request: the servers are the embedded ones, the request comes from this machine without a proxy, and
    its host is this machine, which a page under another name cannot make a browser send.
    """
    config = settings.current()
    file = config.servers.data_dir / "demo.json"
    if config.servers.database_url is not None or not file.is_file() or not _is_local(request, config):
        return None
    try:
        values: dict[str, str] = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return values


def _is_local(request: Request, config: settings.Settings) -> bool:
    if _BY_SCRIPT in request.headers:
        return False
    is_forwarded = not config.web.trusted_proxies and any(name in request.headers for name in _FORWARDED)
    host = urlsplit(f"//{request.host}").hostname or ""
    return not is_forwarded and _is_loopback(request.remote_addr or "") and (host == "localhost" or _is_loopback(host))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
