"""The outside world: one module per kind of external system."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_packages(*packages: str) -> Iterator[None]:
    """Hide packages from the imports of the block, unless they are already loaded.

    A library checks for optional packages at its first import, so this wraps the first import in every process.
    """
    hidden = [package for package in packages if package not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None raises ImportError
    try:
        yield
    finally:
        for package in hidden:
            del sys.modules[package]
