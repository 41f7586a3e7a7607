"""The outside world: one module per kind of system this product talks to."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def absent(*packages: str) -> Iterator[None]:
    """Let a library that the block imports find that others are not installed, but for those that are loaded already.

    The first import of a library decides what it holds: this stands where each process of the service loads it first.
    """
    hidden = [package for package in packages if package not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None says that it is not there
    try:
        yield
    finally:
        for package in hidden:
            del sys.modules[package]
