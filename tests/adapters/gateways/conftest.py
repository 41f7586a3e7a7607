"""A gateway that is played on this machine."""

import pytest

from tests.support.gateways.playing import lead_to
from tests.support.gateways.stages import STAGES


@pytest.fixture
def stage(request, monkeypatch):
    """Play the gateway that a parameter names, or else the one that the tests are called by."""
    playing = STAGES[getattr(request, "param", request.module.__name__.rpartition("test_")[2])]()
    lead_to(playing, monkeypatch)
    yield playing
    playing.stop()
