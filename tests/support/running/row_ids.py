"""Row ids for tests, each greater than the one before.

Ids of the product are ordered by millisecond, and random within one. A test inserts several rows in a millisecond, and
rows with the same time are listed by their ids.
"""

import threading
from uuid import UUID

from models import ids

_lock = threading.Lock()
_last = UUID(int=0)


def new_id() -> UUID:
    """Return an id like the product's, greater than every id that was returned before."""
    global _last
    with _lock:
        _last = max(ids.new_id(), UUID(int=_last.int + 1))
        return _last
