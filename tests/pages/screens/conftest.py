"""An identity provider that signs people in at the pages."""

import pytest

from tests.support.outside.openid_provider import sign_in_with_provider


@pytest.fixture
def provider(app, brand, monkeypatch):
    """The dashboard's provider."""
    with sign_in_with_provider(brand, monkeypatch) as made:
        yield made
