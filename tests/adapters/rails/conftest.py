"""The service our rails speak to, and the four places that the conformance suite visits."""

from collections.abc import Iterator

import pytest

from tests.adapters.rails import places
from tests.adapters.rails.fake_processor import FakeProcessor

HTTP = ("ProcessorConnect", "Wallet", "GlobalPayouts")


@pytest.fixture
def service() -> Iterator[FakeProcessor]:
    """Return a payment service with empty books."""
    started = FakeProcessor()
    yield started
    started.stop()


@pytest.fixture(params=[*HTTP, "sandbox"])
def place(request: pytest.FixtureRequest, service: FakeProcessor) -> places.Place:
    """Return each of the four rails in turn."""
    if request.param == "sandbox":
        return places.sandbox(request.getfixturevalue("brand"))
    return places.over_http(service, request.param)


@pytest.fixture(params=HTTP)
def outside(request: pytest.FixtureRequest, service: FakeProcessor) -> places.Place:
    """Return each of the rails that call an outside service."""
    return places.over_http(service, request.param)
