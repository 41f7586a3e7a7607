"""A simulated platform."""

import pytest

from tests.support.platforms.platform_connections import play_platform


@pytest.fixture
def platform(request):
    with play_platform(getattr(request, "param", "kit")) as playing:
        yield playing
