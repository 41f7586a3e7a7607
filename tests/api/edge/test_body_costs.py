"""A hostile body costs little more than an ordinary one of its route, and its error response is short.

Every operation with a JSON body is called by an authorized caller with bodies made from its schema, as long as the
route allows, up to half a megabyte. Costs are seconds of this thread's processor time, the least of several runs.
"""

import itertools
import json
import re
from uuid import uuid4

import pytest
from marshmallow import ValidationError

from api.description import openapi
from api.edge import body, errors
from domain.gateways.names import Gateway
from domain.platforms.names import Platform
from domain.refusals import Refused
from tests.api.edge.hostile_bodies import build_hostile_bodies
from tests.support.api.embed_tokens import issue_token
from tests.support.outside.console import Console
from tests.support.rows.brands import Partner
from tests.support.running.costs import least_cost, yardstick_s
from tests.support.settings_overrides import override_settings

_MAX_ANSWER_BYTES = 64 * 1024
_MAX_BODY_BYTES = 512 * 1024
_TIMES_AN_ORDINARY_REQUEST = 10


@pytest.fixture(scope="module")
def routes(app):
    """Return the operations with a JSON body: method, rule, operation and an ordinary body."""
    document = app.test_client().get("/api/openapi.json").json
    operations = []
    for rule in app.url_map.iter_rules():
        operation = getattr(app.view_functions[rule.endpoint], "operation", None)
        if operation is None or operation.takes is None or not operation.is_described:
            continue
        method = next(iter(rule.methods - {"HEAD", "OPTIONS"}))
        description = document["paths"][_openapi_path_from_rule(rule.rule)][method.lower()]
        example = description["requestBody"]["content"]["application/json"]["example"]
        operations.append((method, rule.rule, operation, example))
    return operations


def _openapi_path_from_rule(rule):
    return re.sub(r"<(?:[a-z]+:)?([a-z_]+)>", lambda name: f"{{{openapi.camel_case(name[1])}}}", rule)


def _get_max_body_bytes(operation):
    return min(_MAX_BODY_BYTES, operation.guard.max_body_bytes) - 200


def _compute_max_cost(ordinary_s, raw):
    return max(_TIMES_AN_ORDINARY_REQUEST * ordinary_s, ordinary_s + yardstick_s(len(raw)))


def _measure_ordinary_writes(brand):
    """Return the cost of a short write that succeeds, and of a preview of an import of 50 rows.

    Many examples of the API description are refused earlier, and that of an import has one row.
    """
    names = itertools.count()
    rate = {"defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
    write_s, _ = least_cost(lambda: brand.post("/api/v1/programs", {"name": f"Spring {next(names)}"} | rate))
    rows = [{"email": f"ann{number}@example.com"} for number in range(50)]
    preview = {"programId": str(brand.program()), "affiliates": rows}
    preview_s, answer = least_cost(lambda: brand.post("/api/v1/affiliates/import/preview", preview))
    assert answer.status_code == 200
    return write_s, preview_s


def _select_ordinary_cost(operation, costs):
    write_s, preview_s = costs
    return preview_s if "file" in operation.takes.load_fields else write_s


def test_cost_of_reading_a_hostile_body_is_proportional_to_its_length(app, brand, routes):
    slow_bodies, long_answers, costs = [], [], _measure_ordinary_writes(brand)

    def read(schema, raw):
        try:
            schema.load(body.parse(raw) or {})
        except ValidationError as error:
            return len(errors.validation_response(error).data)
        except Refused as refusal:
            return len(errors.refusal_response(refusal).data)
        return 0

    schemas = {type(operation.takes): (operation, example) for _, _, operation, example in routes}
    with app.test_request_context():
        for schema, (operation, example) in schemas.items():
            ordinary_s = _select_ordinary_cost(operation, costs)
            for kind, raw in build_hostile_bodies(operation.takes, example, _get_max_body_bytes(operation)):
                max_s = _compute_max_cost(ordinary_s, raw)
                cost, answer_bytes = least_cost(lambda raw=raw, takes=operation.takes: read(takes, raw), enough_s=max_s)
                if cost > max_s:
                    slow_bodies.append(f"{schema.__name__} {kind}: {cost:.3f} s for {len(raw)} bytes")
                if answer_bytes > _MAX_ANSWER_BYTES:
                    long_answers.append(f"{schema.__name__} {kind}: {answer_bytes} bytes of answer")

    assert schemas
    assert (slow_bodies, long_answers) == ([], [])


def test_hostile_body_costs_at_most_ten_ordinary_requests_of_its_route(brand, routes, monkeypatch):
    unreachable = "http://127.0.0.1:9"
    override_settings(
        monkeypatch,
        addresses={"apis": dict.fromkeys((*Gateway, *Platform), unreachable)},
    )
    brand.set(plan="Pro")
    program_id = str(brand.program())
    affiliate_id = str(brand.affiliate("ben"))
    ids = {"program_id": program_id, "affiliate_id": affiliate_id}
    senders, costs = _build_senders(brand, affiliate_id), _measure_ordinary_writes(brand)
    slow_bodies, long_answers, server_errors = [], [], []
    for method, rule, operation, example in routes:
        path = _fill_path(rule, ids)
        send = senders[operation.guard.audience]
        example_body = {name: ids["program_id"] if name == "programId" else value for name, value in example.items()}
        ordinary_s, _ = least_cost(
            lambda send=send, method=method, path=path, example_body=example_body: send(
                method, path, json.dumps(example_body).encode()
            )
        )
        ordinary_s = max(ordinary_s, _select_ordinary_cost(operation, costs))
        for kind, raw in build_hostile_bodies(operation.takes, example_body, _get_max_body_bytes(operation)):
            max_s = _compute_max_cost(ordinary_s, raw)
            cost, answer = least_cost(
                lambda send=send, method=method, path=path, raw=raw: send(method, path, raw), enough_s=max_s
            )
            name = f"{method} {rule} {kind}"
            if answer.status_code == 500:
                server_errors.append(f"{name}: {answer.status_code}")
            if cost > max_s:
                slow_bodies.append(f"{name}: {cost:.3f} s for {len(raw)} bytes, {ordinary_s:.3f} s for an ordinary one")
            if answer.status_code >= 400 and len(answer.data) > _MAX_ANSWER_BYTES and "invalid_rows" not in answer.text:
                long_answers.append(f"{name}: {len(answer.data)} bytes of answer")

    assert len(routes) > 50
    assert (server_errors, slow_bodies, long_answers) == ([], [], [])


def _fill_path(rule, ids):
    segments = []
    for part in rule.split("<"):
        name, separator, remainder = part.partition(">")
        kind, _, inner = name.rpartition(":")
        segments.append(
            f"{1 if kind == 'int' or inner == 'seq' else ids.get(inner, uuid4())}{remainder}" if separator else name
        )
    return "".join(segments)


def _build_senders(brand, affiliate_id):
    """Return a function that sends a request, for each audience of operations."""
    owner, partner, console = brand.person("Owner"), Partner(brand.app, "ben@example.com"), Console(brand.app)
    stranger = brand.app.test_client()

    def send_as_stranger(method, path, raw):
        return stranger.open(path, method=method, data=raw, content_type="application/json")

    def send_as_operator(method, path, raw):
        return stranger.open(
            path, method=method, data=raw, content_type="application/json", environ_overrides=console.environ
        )

    def send_as_affiliate(method, path, raw):
        headers = {"Authorization": f"Bearer {partner.token}"}
        return stranger.open(path, method=method, data=raw, content_type="application/json", headers=headers)

    token = issue_token(owner, affiliate_id)["token"]

    def send_as_viewer(method, path, raw):
        headers = {"Authorization": f"Bearer {token}"}
        return stranger.open(path, method=method, data=raw, content_type="application/json", headers=headers)

    return {
        "embed": send_as_viewer,
        "brand": owner.call,
        "dashboard": owner.call,
        "integration": brand.call,
        "signed": lambda method, path, raw: brand.post_signed(path, raw),
        "public": send_as_stranger,
        "operator": send_as_operator,
        "affiliate": send_as_affiliate,
    }
