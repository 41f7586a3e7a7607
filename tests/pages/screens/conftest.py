"""An identity provider that signs people in at the pages."""

import pytest

from tests.support.outside.openid_provider import signing_in


@pytest.fixture
def provider(app, brand, monkeypatch):
    """The dashboard's provider."""
    with signing_in(brand, monkeypatch) as made:
        yield made
