"""Rules that hold for every route."""

import importlib
import pkgutil
import re
from uuid import uuid4

import pytest

import api
import pages
from api.edge.operations import Operation
from api.server import framing


def _list_views(app):
    return [(rule, app.view_functions[rule.endpoint]) for rule in app.url_map.iter_rules()]


def test_every_blueprint_is_mounted(app):
    modules = [
        importlib.import_module(module_info.name)
        for layer in (api, pages)
        for module_info in pkgutil.walk_packages(layer.__path__, f"{layer.__name__}.")
    ]
    blueprints = [module.blueprint for module in modules if hasattr(module, "blueprint")]

    assert len(blueprints) > 40
    assert [blueprint.name for blueprint in blueprints if blueprint not in app.blueprints.values()] == []


def test_every_route_declares_its_operation(app):
    declared = {rule.rule: isinstance(getattr(view, "operation", None), Operation) for rule, view in _list_views(app)}

    assert [rule for rule, is_declared in declared.items() if not is_declared] == []


def test_every_writing_route_requires_read_write(app):
    unrestricted = [
        rule.rule
        for rule, view in _list_views(app)
        if rule.methods & {"POST", "PUT", "PATCH", "DELETE"}
        # A tool of an agent requires the scope of its operation.
        and view.operation.guard.audience not in ("public", "integration")
        and view.operation.guard.scope != "read_write"
    ]

    assert unrestricted == []


def test_every_keyed_route_without_a_key_returns_401_without_body(app):
    client = app.test_client()
    for rule, view in _list_views(app):
        if view.operation.guard.audience == "public":
            continue
        path = re.sub(r"<[^>]*>", str(uuid4()), rule.rule)
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            response = client.open(path, method=method, headers={"Authorization": "Bearer nonsense"})

            assert (response.status_code, response.data) == (401, b""), f"{method} {rule.rule}"


def test_no_route_allows_another_origin(app, brand):
    """A page of another site may not read a response, with or without a preflight request."""
    foreign = {"Origin": "https://evil.test"}
    for rule, view in _list_views(app):
        if view.operation.guard.open_cors:
            continue
        path = _fill_path(rule.rule, {})
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            body = {} if method in ("POST", "PUT", "PATCH") else None
            preflight = foreign | {
                "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "authorization",
            }
            responses = [
                brand.call(method, path, body, **foreign),
                app.test_client().open(path, method=method, headers=foreign),
                app.test_client().options(path, headers=preflight),
            ]

            for response in responses:
                cors_headers = [name for name, _ in response.headers if name.lower().startswith("access-control-")]
                assert cors_headers == [], f"{method} {rule.rule}"


@pytest.mark.parametrize("origin", ["https://evil.test", "http://localhost", "null"])
def test_successful_answer_names_no_origin(brand, origin):
    response = brand.get("/api/v1/programs", Origin=origin)

    assert response.status_code == 200
    assert not any(name.lower().startswith("access-control-") for name, _ in response.headers)


def _fill_path(rule: str, ids: dict) -> str:
    def fill(match: re.Match) -> str:
        return str(ids.get(match[1].split(":")[-1]) or uuid4())

    return re.sub(r"<([^>]*)>", fill, rule)


@pytest.mark.parametrize("path", ["/nowhere", "/api/v1/nothing", "/api/tracking/s2s/"])
def test_unknown_address_returns_plain_404(app, path):
    response = app.test_client().get(path)

    assert response.status_code == 404
    assert response.json["error"] == "not_found"


def test_wrong_method_lists_allowed_methods(app):
    response = app.test_client().get("/api/tracking/s2s")

    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]


def test_every_answer_carries_the_request_id(app):
    created = app.test_client().get("/healthz")
    accepted = app.test_client().get("/healthz", headers={"X-Request-Id": "abc-123"})
    replaced = app.test_client().get("/healthz", headers={"X-Request-Id": "x" * 65})

    assert len(created.headers["X-Request-Id"]) == 32
    assert accepted.headers["X-Request-Id"] == "abc-123"
    assert len(replaced.headers["X-Request-Id"]) == 32


def test_server_limit_fits_the_largest_route_body(app):
    assert max(view.operation.guard.max_body_bytes for _, view in _list_views(app)) <= framing.MAX_BODY_BYTES
