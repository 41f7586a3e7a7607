"""A platform that is played on this machine."""

import pytest

from tests.support.platforms.playing import asked


@pytest.fixture
def platform(request):
    with asked(getattr(request, "param", "kit")) as playing:
        yield playing
