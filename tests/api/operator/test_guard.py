"""Operator routes accept operators only: no key, no token and no other person."""

import re

import pytest

from adapters.identity import tokens
from api.access import guards
from api.access.guards import Guard
from tests.support.outside.console import Console

_OPERATIONS = "/api/operator/"


def _list_routes(app):
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(_OPERATIONS):
            path = re.sub(r"<[^>]*>", "1", rule.rule).removeprefix(_OPERATIONS)
            yield from ((method, path) for method in rule.methods - {"HEAD", "OPTIONS"})


def test_every_operator_route_has_the_operator_audience(app):
    audiences = {
        app.view_functions[rule.endpoint].operation.guard.audience
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(_OPERATIONS)
    }

    assert audiences == {"operator"}
    assert len(list(_list_routes(app))) >= 18


def test_keys_and_tokens_return_401(app, brand):
    bearers = [
        brand.api_key,
        brand.person("Owner").api_key,
        tokens.issue_affiliate(email="ben@example.com", is_email_verified=True, ttl_s=60),
    ]
    for method, path in _list_routes(app):
        for bearer in bearers:
            answer = app.test_client().open(
                _OPERATIONS + path, method=method, json={}, headers={"Authorization": f"Bearer {bearer}"}
            )

            assert (answer.status_code, answer.data) == (401, b""), f"{method} {path}"


@pytest.mark.parametrize("kind", ["member", "account"])
def test_members_and_affiliates_return_401(app, kind):
    for method, path in _list_routes(app):
        assert Console(app).with_kind(kind).call(method, path, {}).status_code == 401


def test_guards_tell_operators_from_members(app):
    operator = Console(app)
    member = operator.with_kind("member")

    assert guards.is_allowed(Guard(audience="operator"), operator._person)
    assert not guards.is_allowed(Guard(audience="operator"), member._person)
    assert not guards.is_allowed(Guard(audience="brand"), operator._person)


def test_request_header_cannot_make_an_operator(app):
    for name in ("finderfee.person", "Finderfee-Person", "X-Operator"):
        assert app.test_client().get("/api/operator/queues", headers={name: "operator"}).status_code == 401


def test_malformed_bodies_never_return_500(app, console):
    for method, path in _list_routes(app):
        for body in ({}, {"why": 7}, {"why": "\x00"}, {"why": "x" * 5_000}, {"settings": {"plan": 1}}, [], None):
            assert console.call(method, path, body).status_code in (200, 202, 204, 400, 404, 409), f"{method} {path}"


def test_unknown_ids_return_404(app, console):
    for rule in app.url_map.iter_rules():
        if not rule.rule.startswith(_OPERATIONS) or not rule.arguments:
            continue
        for value in ("0", "-1", "9" * 30, "none", "%00", "01890000-0000-7000-8000-000000000000"):
            path = re.sub(r"<[^>]*>", value, rule.rule).removeprefix(_OPERATIONS)
            for method in rule.methods - {"HEAD", "OPTIONS"}:
                body = {"why": "w", "decision": "approve", "paidAs": "x", "settings": {"plan": "Pro"}}

                assert console.call(method, path, body).status_code == 404, f"{method} {path}"
