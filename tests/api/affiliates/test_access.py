"""Access to the affiliate routes. Source: core spec, section 5 and "Affiliates"; the endpoint list."""

import pytest

from tests.support.rows.brands import Brand, Partner

_ID = "01900000-0000-7000-8000-000000000001"
_READS = [
    ("GET", "/api/v1/affiliates"),
    ("GET", f"/api/v1/affiliates/{_ID}"),
    ("GET", "/api/v1/affiliates/applications"),
    ("GET", f"/api/v1/affiliates/{_ID}/links"),
    ("GET", f"/api/v1/affiliates/{_ID}/tax-form"),
    ("GET", f"/api/v1/affiliates/{_ID}/balance"),
    ("GET", f"/api/v1/affiliates/{_ID}/timeline"),
]
_WRITES = [
    ("POST", "/api/v1/affiliates"),
    ("PATCH", f"/api/v1/affiliates/{_ID}"),
    ("POST", f"/api/v1/affiliates/{_ID}/approve"),
    ("POST", f"/api/v1/affiliates/{_ID}/reject"),
    ("POST", f"/api/v1/affiliates/{_ID}/links"),
    ("DELETE", f"/api/v1/affiliates/{_ID}/links/{_ID}"),
    ("POST", "/api/v1/affiliates/import"),
    ("POST", "/api/v1/affiliates/bulk-action"),
]
_DASHBOARD = [("POST", "/api/affiliates/bulk/approve"), ("POST", "/api/affiliates/bulk/pause")]
# The minimum role of a dashboard member, where it is not Viewer (reads) or Manager (writes).
_ADMIN = {f"/api/v1/affiliates/{_ID}/tax-form", "/api/v1/affiliates/bulk-action"}
_VERIFIED = {"/api/v1/affiliates/bulk-action", *(path for _, path in _DASHBOARD)}


def _call(caller, method, path):
    return caller.call(method, path, None if method in ("GET", "DELETE") else {})


@pytest.mark.parametrize(("method", "path"), _WRITES)
def test_read_key_cannot_write(brand, method, path):
    answer = _call(brand.other_key(scope="read"), method, path)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]


@pytest.mark.parametrize(("method", "path"), _READS)
def test_read_key_can_read(brand, method, path):
    assert _call(brand.other_key(scope="read"), method, path).status_code in (200, 404)


@pytest.mark.parametrize(("method", "path"), _READS + _WRITES)
def test_key_needs_the_starter_plan(app, method, path):
    free = Brand.create(app, plan="Free")

    answer = _call(free, method, path)

    assert (answer.status_code, answer.json["error"]) == (402, "plan_tier_required")
    assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert (answer.json["required"], answer.json["current"]) == ("Starter", "Free")


@pytest.mark.parametrize(("method", "path"), _READS + _WRITES + _DASHBOARD)
def test_dashboard_member_passes_every_plan(app, method, path):
    assert _call(Brand.create(app, plan="Free").person("Owner"), method, path).status_code in (200, 400, 404)


@pytest.mark.parametrize(("method", "path"), _READS + _WRITES + _DASHBOARD)
def test_role_below_the_minimum_is_refused(brand, method, path):
    minimum = "Admin" if path in _ADMIN else "Viewer" if (method, path) in _READS else "Manager"
    below = {"Admin": "Manager", "Manager": "Viewer"}.get(minimum)

    assert _call(brand.person(minimum), method, path).status_code in (200, 400, 404)
    if below:
        answer = _call(brand.person(below), method, path)

        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
        assert minimum in answer.json["message"]


@pytest.mark.parametrize(("method", "path"), _WRITES + _DASHBOARD)
def test_bulk_actions_require_a_verified_email(brand, method, path):
    answer = _call(brand.person("Owner", is_email_verified=False), method, path)

    if path in _VERIFIED:
        assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")
    else:
        assert answer.status_code in (400, 404)


@pytest.mark.parametrize(("method", "path"), _DASHBOARD)
def test_key_cannot_use_dashboard_routes(brand, method, path):
    answer = _call(brand, method, path)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


def test_import_has_its_own_rate_limit(app):
    guards = {
        rule.rule: app.view_functions[rule.endpoint].operation.guard
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(("/api/v1/affiliates", "/api/affiliates"))
    }

    assert guards["/api/v1/affiliates/import"].bucket == "import"
    assert {guards[path].bucket for path in guards if "import" not in path} == {"standard"}


@pytest.mark.parametrize("path", [path for method, path in _READS if method == "GET"])
def test_affiliate_token_cannot_read_brand_routes(app, path):
    assert Partner(app, "ben@example.com").get(path).status_code == 401
