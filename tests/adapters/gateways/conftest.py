"""A gateway that is played on this machine."""

import dataclasses

import pytest

import settings
from domain.gateways.names import Gateway


@pytest.fixture
def play(monkeypatch):
    """Return what starts the stage of a gateway and points its adapter there."""
    playing = []

    def start(kind):
        stage = kind()
        playing.append(stage)
        urls = dict.fromkeys(Gateway) | {stage.gateway.name: stage.url}
        known = settings.current()
        chosen = dataclasses.replace(known, gateways=dataclasses.replace(known.gateways, urls=urls))
        monkeypatch.setattr(settings, "current", lambda: chosen)
        return stage

    yield start
    for stage in playing:
        stage.stop()
