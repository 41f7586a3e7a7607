"""A mail server that stores the emails it receives."""

import pytest

from tests.support.outside.post_office import PostOffice


@pytest.fixture
def office(app, monkeypatch):
    post_office = PostOffice(monkeypatch)
    yield post_office
    post_office.close()
