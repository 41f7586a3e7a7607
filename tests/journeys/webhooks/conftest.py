"""Fixtures of the tests in this folder."""

import pytest

from tests.support.endpoints import Endpoint


@pytest.fixture
def endpoint(brand, receiver):
    brand.program()
    brand.affiliate("ben")
    return Endpoint.create(brand, receiver.url)
