"""The Deprecation header of a route. Source: core spec, section 9 (Deprecation header)."""

from datetime import UTC, datetime

import pytest
from flask import Flask

from api.access.guards import Guard
from api.edge import operations


@pytest.fixture
def client():
    app = Flask("routes")
    since = datetime(2026, 3, 1, tzinfo=UTC)

    @app.get("/old")
    @operations.operation(Guard(audience="public", bucket=None), deprecated_since=since)
    def deprecated_route():
        return "still here"

    @app.get("/new")
    @operations.operation(Guard(audience="public", bucket=None))
    def current_route():
        return "here to stay"

    return app.test_client()


def test_deprecated_route_has_a_deprecation_header(client):
    assert client.get("/old").headers["Deprecation"] == "@1772323200"


def test_other_route_has_no_deprecation_header(client):
    assert "Deprecation" not in client.get("/new").headers
