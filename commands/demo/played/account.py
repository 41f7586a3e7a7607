"""The rows of a played account by collection, oldest first. They may change while a client pages through them."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class PlayedRows:
    """The rows of a collection, oldest first: a list, or computed from their index until the first change.

    `find_index` returns the index of a computed row by its id, so that pages by the last id need no search.
    """

    def __init__(
        self,
        rows: Iterable[Any] = (),
        *,
        count: int = 0,
        compute: Callable[[int], Any] | None = None,
        find_index: Callable[[str], int | None] | None = None,
    ) -> None:
        self._rows = None if compute else list(rows)
        self._count, self._compute, self._find_index = count, compute, find_index
        # Where a deleted row was, so that a page after its id goes on from there.
        self._deleted: dict[str, int] = {}

    def __len__(self) -> int:
        return self._count if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.slice(0, len(self)))

    def __getitem__(self, index: int) -> Any:
        return self.slice(index, index + 1)[0] if index >= 0 else self[len(self) + index]

    def slice(self, start: int, stop: int) -> list[Any]:
        """Return the rows from one index up to another, as far as there are any."""
        if self._rows is not None:
            return self._rows[start:stop]
        assert self._compute is not None
        return [self._compute(index) for index in range(start, min(stop, self._count))]

    def index_after(self, row_id: str, *, key: str = "id") -> int | None:
        """Return the index of the row that follows the row of an id; None for an unknown id."""
        if self._rows is None and self._find_index is not None:
            index = self._find_index(row_id)
            return None if index is None else index + 1
        for index, row in enumerate(self):
            if isinstance(row, Mapping) and row.get(key) == row_id:
                return index + 1
        return self._deleted.get(row_id)

    def append(self, row: Any) -> None:
        """Add the newest row."""
        self._to_list().append(row)

    def insert(self, index: int, row: Any) -> None:
        """Add a row at an index."""
        self._to_list().insert(index, row)

    def delete(self, index: int, *, key: str = "id") -> Any:
        """Delete and return the row at an index."""
        row = self._to_list().pop(index)
        if isinstance(row, Mapping):
            self._deleted[str(row.get(key))] = index if index >= 0 else len(self)
        return row

    def replace(self, index: int, row: Any) -> None:
        """Replace the row at an index."""
        self._to_list()[index] = row

    def update(self, index: int, **values: Any) -> None:
        """Change values of the row at an index."""
        rows = self._to_list()
        rows[index] = {**rows[index], **values}

    def _to_list(self) -> list[Any]:
        if self._rows is None:
            self._rows = list(self)
        return self._rows


@dataclass(slots=True)
class PlayedAccount:
    """An account in the source's own JSON. Change its rows while holding `lock`: pages are read under it.

    `credentials` are those that the source accepts, by the names of its credential fields. `facts` is what the source
    needs besides rows (a currency, a program).
    """

    credentials: Mapping[str, str]
    collections: dict[str, PlayedRows]
    facts: dict[str, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __getitem__(self, collection: str) -> PlayedRows:
        return self.collections[collection]
