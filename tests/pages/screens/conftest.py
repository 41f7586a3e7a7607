"""An identity provider for sign-ins at the pages."""

import pytest

from tests.support.outside.openid_provider import sign_in_with_provider


@pytest.fixture
def provider(app, brand, monkeypatch):
    """The identity provider of the dashboard."""
    with sign_in_with_provider(brand, monkeypatch) as identity_provider:
        yield identity_provider
