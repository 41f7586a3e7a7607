"""The fake payment service as its own process, for tests that kill the product's processes."""

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
from tests.adapters.rails import fake_processor, rail_setups
from tests.support.running import ports

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def url():
    with contextlib.closing(ports.hold_port()) as reserved_port:
        port = ports.port_number(reserved_port)
        process = subprocess.Popen([sys.executable, "-m", fake_processor.__name__, str(port)], cwd=_ROOT)
        yield f"http://127.0.0.1:{port}"
        process.kill()
        process.wait()


def _request_json(url, payload=None):
    data = None if payload is None else json.dumps(payload).encode()
    deadline = time.monotonic() + 60
    while True:
        try:
            return json.load(urllib.request.urlopen(url, data, timeout=60))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_faults_and_books_are_available_over_http(url, service):
    assert _request_json(f"{url}/books") == []
    rail_setup = rail_setups.over_http(service, "ProcessorConnect")
    rail_setup.rail = ProcessorConnectRail(url=url, key=fake_processor.KEY, webhook_secret=None)
    impatient_rail = ProcessorConnectRail(
        url=url, key=fake_processor.KEY, webhook_secret=None, timeout_s=rail_setups.TIMEOUT_S
    )
    transfer = rail_setup.transfer()
    _request_json(f"{url}/control", {"faults": ["hang_after"]})

    assert isinstance(impatient_rail.send(transfer), Unknown)
    assert [booking["key"] for booking in _request_json(f"{url}/books")] == [transfer.key]
    assert isinstance(rail_setup.rail.look_up(transfer), Paid)


def test_confirmation_is_delivered_the_requested_number_of_times(service):
    rail_setup, other = rail_setups.over_http(service, "ProcessorConnect"), fake_processor.FakeProcessor()
    transfer = rail_setup.transfer()
    rail_setup.rail.send(transfer)

    service.deliver(transfer.key, f"{other.url}/control", copies=3)

    assert other.requests == [("POST", "/control")] * 3
    other.stop()
