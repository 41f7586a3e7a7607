"""The fake payment service as a process of its own, for tests that kill ours."""

import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from adapters.rails.processor_connect import ProcessorConnectRail
from domain.payouts.transfers import Paid, Unknown
from tests.adapters.rails import fake_processor, places
from tests.support.running import ports

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def url():
    with contextlib.closing(ports.hold_port()) as held:
        port = ports.port_number(held)
        process = subprocess.Popen([sys.executable, "-m", fake_processor.__name__, str(port)], cwd=_ROOT)
        yield f"http://127.0.0.1:{port}"
        process.kill()
        process.wait()


def _ask(url, told=None):
    data = None if told is None else json.dumps(told).encode()
    deadline = time.monotonic() + 60
    while True:
        try:
            return json.load(urllib.request.urlopen(url, data, timeout=60))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_it_is_told_over_http_and_shows_its_books(url, service):
    assert _ask(f"{url}/books") == []
    place = places.over_http(service, "ProcessorConnect")
    place.rail = ProcessorConnectRail(url=url, key=fake_processor.KEY, webhook_secret=None)
    hasty = ProcessorConnectRail(url=url, key=fake_processor.KEY, webhook_secret=None, timeout_s=places.TIMEOUT_S)
    transfer = place.transfer()
    _ask(f"{url}/control", {"faults": ["hang_after"]})

    assert isinstance(hasty.send(transfer), Unknown)
    assert [booked["key"] for booked in _ask(f"{url}/books")] == [transfer.key]
    assert isinstance(place.rail.look_up(transfer), Paid)


def test_it_delivers_a_confirmation_as_often_as_told(service):
    place, other = places.over_http(service, "ProcessorConnect"), fake_processor.FakeProcessor()
    transfer = place.transfer()
    place.rail.send(transfer)

    service.deliver(transfer.key, f"{other.url}/control", copies=3)

    assert other.requests == [("POST", "/control")] * 3
    other.stop()
