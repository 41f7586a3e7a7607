"""The fake payment service and the four rails of the conformance suite."""

from collections.abc import Iterator

import pytest

from tests.adapters.rails import rail_setups
from tests.adapters.rails.fake_processor import FakeProcessor

HTTP = ("ProcessorConnect", "Wallet", "GlobalPayouts")


@pytest.fixture
def service() -> Iterator[FakeProcessor]:
    """Return a fake payment service without bookings."""
    processor = FakeProcessor()
    yield processor
    processor.stop()


@pytest.fixture(params=[*HTTP, "sandbox"])
def rail_setup(request: pytest.FixtureRequest, service: FakeProcessor) -> rail_setups.RailSetup:
    """Return each of the four rails in turn."""
    if request.param == "sandbox":
        return rail_setups.sandbox(request.getfixturevalue("brand"))
    return rail_setups.over_http(service, request.param)


@pytest.fixture(params=HTTP)
def external_setup(request: pytest.FixtureRequest, service: FakeProcessor) -> rail_setups.RailSetup:
    """Return each of the rails that call an outside service."""
    return rail_setups.over_http(service, request.param)
