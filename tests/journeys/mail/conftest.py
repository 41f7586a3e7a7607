"""A mail server that keeps what it is sent."""

import pytest

from tests.support.outside.post_office import PostOffice


@pytest.fixture
def office(app, monkeypatch):
    opened = PostOffice(monkeypatch)
    yield opened
    opened.close()
