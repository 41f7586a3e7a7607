"""The platforms by name. An adapter is loaded when it is first needed."""

import importlib

from adapters.platforms.base import PlatformAdapter
from domain.platforms.names import Platform


def find(name: str) -> PlatformAdapter | None:
    """Return a platform's adapter, or None for a name that is not a platform's."""
    if name not in set(Platform):
        return None
    adapter: PlatformAdapter = importlib.import_module(f"adapters.platforms.{name}").PLATFORM
    return adapter


def get(name: str) -> PlatformAdapter:
    """Return the adapter of a platform. Raises LookupError for a name that is not a platform's."""
    adapter = find(name)
    if adapter is None:
        raise LookupError(f"there is no platform {name}")
    return adapter


def all_of_them() -> list[PlatformAdapter]:
    """Return the adapters of all platforms, in the order in which they are shown."""
    return [get(name) for name in Platform]
