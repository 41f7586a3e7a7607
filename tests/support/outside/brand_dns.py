"""The DNS of brands: a name server of the tests' own, which the service asks in place of the machine's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adapters import name_servers
from tests.support.outside.name_server import NameServer
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

_TRACKING = "/api/v1/settings/tracking-domain"
#: A valid call of the route that sets a domain, and the routes that look one up; what they find has tests of its own.
WRITES: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"PATCH {_TRACKING}": lambda owner: (_TRACKING, {"trackingDomain": f"go.{owner.id.hex}.example"}),
}
CHECK_ROUTES = {f"POST {_TRACKING}/check", "POST /api/v1/programs/<program_id>/domain/check"}
# A third of it for each question, which is asked twice.
_PATIENCE_S = 15.0
#: Where brands' domains lead to.
TARGET = "affiliates.service.example"


@contextmanager
def run_name_server(monkeypatch: Any, **web: Any) -> Iterator[NameServer]:
    """Have the service, at TARGET, ask a server of the tests' own; `web` are further settings.

    It waits longer for an answer than the service does: on a busy machine one may take more than a second.
    """
    server = NameServer()
    for patience in ("REQUEST_LIMIT_S", "JOB_LIMIT_S"):
        monkeypatch.setattr(name_servers, patience, _PATIENCE_S)
    address, _, port = server.address.rpartition(":")
    override_settings(
        monkeypatch, web={"dns_servers": ((address, int(port)),), "public_base_url": f"https://{TARGET}", **web}
    )
    yield server
    server.close()
