"""Landing pages as they were written, known by all that they say: the next stranger gets one with a key of their own.

What a page says is read from the database for each of them. So a page that its brand changed is another one at once, in
every process, and one that ended is asked for no more: what is kept is what filling in the template comes to, and tells
nobody what holds now.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable

from pages import forms

# Some 1,500 pages; what a long one weighs, each of another script included, is bounded by what a brand may say.
_MOST_BYTES = 8 * 1024 * 1024


class WrittenPages:
    """The pages of this process that were asked for last, up to `most_bytes` of them. Any thread may ask."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, tuple[bytes, bytes]] = OrderedDict()

    def page(self, known_by: bytes, write: Callable[[str], str]) -> bytes:
        """Return a page with a key of its own; `write` writes it around a key, which stands in it once.

        `known_by` is told by everything that `write` depends on but the key.
        """
        key = forms.new_key()
        with self._lock:
            parts = self._kept.get(known_by)
            if parts is not None:
                self._kept.move_to_end(known_by)
        if parts is None:
            before, after = write(key).split(key)
            parts = before.encode(), after.encode()
            self._keep(known_by, parts)
        return key.encode().join(parts)

    def _keep(self, known_by: bytes, parts: tuple[bytes, bytes]) -> None:
        with self._lock:
            if known_by in self._kept:  # another thread was as quick
                return
            self._kept[known_by] = parts
            self._bytes += sum(map(len, parts))
            while self._bytes > self._most_bytes:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= sum(map(len, gone))


PAGES = WrittenPages(_MOST_BYTES)
