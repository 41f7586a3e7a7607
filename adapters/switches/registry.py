"""The sources by name. A source is loaded when it is first needed."""

import importlib

from adapters.switches.base import Source
from domain.switches.sources import SourceName


def find(name: str) -> Source | None:
    """Return a source, or None for an unknown name."""
    if name not in set(SourceName):
        return None
    source: Source = importlib.import_module(f"adapters.switches.{name}").SOURCE
    return source


def get(name: str) -> Source:
    """Return a source. Raises LookupError for an unknown name."""
    source = find(name)
    if source is None:
        raise LookupError(f"there is no source {name}")
    return source


def all_sources() -> list[Source]:
    """Return all sources, in the order in which they are shown."""
    return [get(name) for name in SourceName]
