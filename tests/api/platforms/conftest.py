"""A simulated platform."""

import pytest

from tests.support.platforms.playing import asked


@pytest.fixture
def platform(request):
    with asked(getattr(request, "param", "kit")) as playing:
        yield playing
