"""A gateway of digital goods on a port of this machine, for the tests of one adapter."""

import dataclasses

import pytest

import settings
from domain.gateways.names import Gateway
from tests.support.gateways.stages import STAGES


@pytest.fixture
def stage(request, monkeypatch):
    name = request.module.__name__.rpartition("test_")[2]
    playing = STAGES[name]()
    urls = dict.fromkeys(Gateway) | {name: playing.url}
    known = settings.current()
    chosen = dataclasses.replace(known, gateways=dataclasses.replace(known.gateways, urls=urls))
    monkeypatch.setattr(settings, "current", lambda: chosen)
    yield playing
    playing.stop()
