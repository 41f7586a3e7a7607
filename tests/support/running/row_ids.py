"""Ids of rows that tests make one after the other, each above the one before it.

The product's are in order from one millisecond to the next, and within one by chance. A row of a test takes a third of
a millisecond, and rows of one moment are listed by their ids.
"""

import threading
from uuid import UUID

from models import ids

_lock = threading.Lock()
_last = UUID(int=0)


def new_id() -> UUID:
    """Return an id like the product's, above every one that was returned before."""
    global _last
    with _lock:
        _last = max(ids.new_id(), UUID(int=_last.int + 1))
        return _last
