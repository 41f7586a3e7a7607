"""A source at its played server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from tests.support.switches import walking
from tests.support.switches.walking import Walk


@pytest.fixture
def start() -> Iterator[Callable[..., Walk]]:
    """Start a source at its played server and connect it; the server ends with the test."""
    with ExitStack() as stack:
        yield partial(walking.start, stack)


@pytest.fixture(params=walking.PLAYED)
def walk(request: pytest.FixtureRequest, start: Callable[..., Walk]) -> Walk:
    """Return each source, connected to its played server."""
    connected: Walk = start(request.param)
    return connected
