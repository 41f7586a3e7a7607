"""What the rules about routes share."""

from collections.abc import Iterator

import pytest

from tests.support.gateways.playing import played
from tests.support.platforms import playing as platforms


@pytest.fixture
def played_services(app) -> Iterator[None]:
    """A gateway and a platform to connect, under `stage` and `platform` of the application."""
    with played() as stage, platforms.asked() as platform:
        app.extensions["stage"] = stage
        app.extensions["platform"] = platform
        yield
