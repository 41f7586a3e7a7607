"""The DNS records of brands' domains: a name server of the tests, which the service queries."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adapters import name_servers
from tests.support.outside.name_server import NameServer
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

_TRACKING = "/api/v1/settings/tracking-domain"
#: A valid call of the route that sets a domain, and the routes that only check one.
WRITES: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"PATCH {_TRACKING}": lambda owner: (_TRACKING, {"trackingDomain": f"go.{owner.id.hex}.example"}),
}
CHECK_ROUTES = {f"POST {_TRACKING}/check", "POST /api/v1/programs/<program_id>/domain/check"}
# The limit for all queries of a check; each query is sent twice and may take a third of it.
_PATIENCE_S = 15.0
#: The host that brands' domains must point to.
TARGET = "affiliates.service.example"


@contextmanager
def run_name_server(monkeypatch: Any, **web: Any) -> Iterator[NameServer]:
    """Run a name server that the service, at TARGET, queries while the block runs; `web` are further settings.

    The service waits longer for its answers than usual: on a busy machine one may take more than a second.
    """
    server = NameServer()
    for limit in ("REQUEST_LIMIT_S", "JOB_LIMIT_S"):
        monkeypatch.setattr(name_servers, limit, _PATIENCE_S)
    address, _, port = server.address.rpartition(":")
    override_settings(
        monkeypatch, web={"dns_servers": ((address, int(port)),), "public_base_url": f"https://{TARGET}", **web}
    )
    yield server
    server.close()
