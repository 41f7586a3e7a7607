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


# The entries about an affiliate that are no event of the timeline.
_NO_EVENTS = {
    "affiliate.created": "the timeline has the day on which they joined",
    "affiliate_invite.created": "an invite has no affiliate before it is accepted",
    "conversion.": "the page lists conversions, each with its own history",
    "deal.created": "a draft that the affiliate does not see",
    "embed_token.": "access of a server, listed under Developers",
    "fraud_event.": "listed under Review",
    "payout.mark_paid": "the timeline has the payment",
    "payout.void": "the timeline has the voiding",
    "uncredited_conversion.": "listed under Review",
    "import_job.": "the timeline has the import",
}


def _find_affiliate(brand: Brand, entity_id: str) -> str | None:
    """Return the affiliate who an entry's entity is, or to whom its row belongs."""
    if brand.rows("select from affiliate where id::text = %s", entity_id):
        return entity_id
    tables = brand.rows(
        "select table_name from information_schema.columns join information_schema.tables using (table_name)"
        " where column_name in ('id', 'affiliate_id') and table_type = 'BASE TABLE' group by 1 having count(*) = 2"
    )
    for (table,) in tables:
        for (affiliate_id,) in brand.rows(f"select affiliate_id::text from {table} where id::text = %s", entity_id):
            return str(affiliate_id) if affiliate_id else None
    return None


def _assert_is_in_the_timeline(owner: Brand, action: str, entity_id: str) -> None:
    affiliate_id = _find_affiliate(owner, entity_id)
    if affiliate_id is None or action.startswith(tuple(_NO_EVENTS)):
        return
    if owner.rows("select from affiliate where id::text = %s and deleted_at is not null", affiliate_id):
        return  # with its page
    answer = owner.get(f"/api/v1/affiliates/{affiliate_id}/timeline?take=1")
    (newest,) = answer.json["items"]
    assert newest["actor"] == {"type": "member", "name": "owner@example.com"}, (action, newest)
    assert newest["type"] != "changed" or newest["changes"], (action, newest)


def _list_entries(brand: Brand) -> list[tuple[Any, ...]]:
    return brand.rows("select id, action, entity_type, actor_label, request_id, entity_id from audit_entry")


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
    for _, action, entity_type, label, request_id, entity_id in new_entries:
        assert action.startswith(f"{entity_type}.")
        assert (label, request_id) == ("owner@example.com", response.headers["X-Request-Id"])
        _assert_is_in_the_timeline(owner, action, entity_id)
