"""Statements of hot paths: planned once per connection instead of once per call.

Row-level security and composite keys make planning the larger part of a short statement; a prepared one skips it.
"""

import itertools
import re
from collections.abc import Mapping, Sequence

_PLACEHOLDER = re.compile(r"%(?:\((\w+)\)s|s)")
_numbers = itertools.count(1)


class Hot:
    """A statement with `%s` or `%(name)s` placeholders that `db.run` and `db.stage` take in place of text."""

    def __init__(self, sql: str) -> None:
        self.name = f"hot_{next(_numbers)}"
        self._order: list[str | int] = []
        text = _PLACEHOLDER.sub(self._number, sql)
        self.prepare = f"prepare {self.name} as {text}".encode()
        self.execute = f"execute {self.name} ({', '.join(['%s'] * len(self._order))})"

    def values(self, params: Sequence[object] | Mapping[str, object]) -> list[object]:
        """Return the parameters in the order in which the statement numbers them."""
        return [params[place] for place in self._order]  # type: ignore[index]  # a name or a position

    def _number(self, found: re.Match[str]) -> str:
        place: str | int = found[1] or len(self._order)
        if place not in self._order:
            self._order.append(place)
        return f"${self._order.index(place) + 1}"
