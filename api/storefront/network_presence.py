"""Whether this installation has a network of programs, for its front page."""

import threading
import time

from models import db
from pipelines.programs import network_listing

# The front page has no rate limit, so it queries the database at most once a minute.
_CACHE_S = 60.0


class _NetworkPresence:
    """Whether the network has programs, cached for a minute per process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._has_programs = False
        self._until = 0.0

    def has_programs(self) -> bool:
        """Return whether affiliates find programs in the network; False while the database is unavailable."""
        with self._lock:
            if self._until <= time.monotonic():
                self._has_programs = _query()
                self._until = time.monotonic() + _CACHE_S
            return self._has_programs

    def forget(self) -> None:
        """Query again at the next request: between tests."""
        self._until = 0.0


presence = _NetworkPresence()


def _query() -> bool:
    try:
        with db.any_org_work():
            return network_listing.any_org_has_programs()
    except (*db.UNAVAILABLE, db.UNDEFINED):
        return False
