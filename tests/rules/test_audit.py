"""Every write of a brand leaves an audit entry. Source: core spec, "Other resources" (audit log item)."""

from typing import Any

import pytest

from tests.rules.write_calls import CALLS
from tests.support.api import copilot_calls
from tests.support.gateways.gateway_connections import play_gateway
from tests.support.outside import brand_dns
from tests.support.platforms import platform_connections as platforms
from tests.support.rows.brands import Brand

_WRITES = {"POST", "PUT", "PATCH", "DELETE"}
_READING_POSTS = copilot_calls.HARMLESS_ROUTES | {  # POSTs that only read
    *brand_dns.CHECK_ROUTES,
    "POST /api/v1/affiliates/import/preview",
    "POST /api/v1/conversions/import/preview",
    "POST /api/v1/payouts/preview",
    "POST /api/v1/connections/<connection_id>/check",
    "POST /api/v1/platforms/<connection_id>/check",
    "POST /api/v1/programs/<program_id>/install-check",
    "POST /api/v1/notifications/read",  # a person's own mark, no change of the organization
}


def test_every_writing_route_has_a_sample_call(app):
    views = [(rule, app.view_functions[rule.endpoint].operation) for rule in app.url_map.iter_rules()]
    routes = {
        f"{method} {rule.rule}"
        for rule, operation in views
        if operation.guard.audience in ("brand", "dashboard")
        for method in rule.methods & _WRITES
    }

    assert sorted(routes - _READING_POSTS - set(CALLS)) == []
    assert sorted(set(CALLS) - routes) == []


def _list_entries(brand: Brand) -> list[tuple[Any, ...]]:
    return brand.rows("select id, action, entity_type, actor_label, request_id from audit_entry")


@pytest.fixture
def simulated_services(app):
    with play_gateway() as stage, platforms.play_platform() as platform:
        app.extensions["stage"] = stage
        app.extensions["platform"] = platform
        yield


@pytest.mark.usefixtures("simulated_services")
@pytest.mark.parametrize("route", CALLS)
def test_successful_write_records_its_actor(brand, route):
    owner = brand.person("Owner")
    path, body = CALLS[route](owner)
    before = _list_entries(brand)

    response = owner.call(route.partition(" ")[0], path, body)

    assert response.status_code in (200, 201, 202, 204), response.get_data(as_text=True)
    new_entries = [entry for entry in _list_entries(brand) if entry not in before]
    assert new_entries
    for _, action, entity_type, label, request_id in new_entries:
        assert action.startswith(f"{entity_type}.")
        assert (label, request_id) == ("owner@example.com", response.headers["X-Request-Id"])
