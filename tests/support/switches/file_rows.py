"""Rows of source files, understood without a database."""

from typing import Any

from adapters.switches.base import SourceRow, SwitchContext
from adapters.switches.files import SOURCE
from domain.switches.options import SwitchOptions
from domain.switches.sources import Collection


def understand(
    collection: str,
    cells: dict[str, str],
    columns: dict[str, Any],
    *,
    words: dict[str, str] | None = None,
    separator: str = ",",
    **options: Any,
) -> Any:
    """Understand a row of one part; `columns` are those of its collection, or of all if they are nested."""
    filled = {name.casefold(): cell for name, cell in cells.items() if cell}
    nested = columns if all(isinstance(value, dict) for value in columns.values()) else {collection: columns}
    context = SwitchContext(SwitchOptions(**options), {}, ("all",), columns=nested, words={collection: words or {}})
    return SOURCE.understand(
        SourceRow(Collection(collection), "01/00000002", {"cells": filled, "separator": separator}), context
    )
