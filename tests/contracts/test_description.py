"""Answers to generated requests match the OpenAPI description, and no request causes a server error.

Each operation gets a few valid and invalid requests with existing ids, from a caller that its guard accepts.
"""

import csv
import re
from pathlib import Path

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from domain.gateways.names import Gateway
from domain.platforms.names import Platform
from tests.support.gateways.stage import PlayedApi
from tests.support.outside.console import Console
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import DealScene
from tests.support.settings_overrides import override_settings

_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_LIST = Path(__file__).parents[1] / "rules" / "interface.tsv"
with _LIST.open(newline="") as file:
    OPERATIONS = [f"{row['method']} {row['path']}" for row in csv.DictReader(file, delimiter="\t")]
OPERATIONS.remove("GET /api/openapi.json")  # the description does not test itself
_EXAMPLES = 5


def _affiliate_email(brand):
    """Return the email address of the brand's affiliate, unique because an account belongs to an address."""
    return f"ben@{brand.id.hex}.example.com"


def _shape(path):
    return re.sub(r"\{[^}]*\}", "{}", path)


@pytest.fixture(scope="module")
def description(app):
    operator = Console(app).environ

    def call_without_gzip(environ, start_response):
        # The client accepts gzip but does not decompress it.
        extra = {"HTTP_ACCEPT_ENCODING": "identity"}
        if environ["PATH_INFO"].startswith("/api/operator/"):
            extra |= operator
        return app(environ | extra, start_response)

    return schemathesis.openapi.from_wsgi("/api/openapi.json", call_without_gzip)


@pytest.fixture(scope="module")
def operations(description):
    return {
        f"{operation.ok().method.upper()} {_shape(operation.ok().path)}": operation.ok()
        for operation in description.get_all_operations()
    }


class _RefusingApi(PlayedApi):
    """A simulated API that refuses all credentials."""

    def is_authorized(self, request):
        return False

    def answer(self, request):
        raise AssertionError("no credentials are accepted")


@pytest.fixture
def _refusing_services(monkeypatch):
    """Replace every gateway and platform by a simulation that refuses all credentials."""
    api = _RefusingApi()
    override_settings(
        monkeypatch,
        addresses={"apis": dict.fromkeys((*Gateway, *Platform), api.url)},
    )
    yield
    api.stop()


@pytest.fixture
def ids(brand):
    """Return existing ids by the names of path parameters."""
    brand.set(plan="Pro")
    program_id = brand.program()
    email = _affiliate_email(brand)
    affiliate_id = brand.affiliate("ben", email=email, email_normalized=email)
    endpoint = brand.post("/api/v1/webhooks", {"url": "https://receiver.example.com/", "events": ["*"]})
    group = brand.post(
        f"/api/v1/programs/{program_id}/partner-groups",
        {"name": "Gold", "commissionType": "Percentage", "commissionValue": 30},
    )
    sale = brand.sale()
    owner, creator = brand.person("Owner"), Partner(brand.app, email)
    return {
        "dealId": DealScene(brand, owner, creator, program_id, affiliate_id).create_offered(),
        "seq": "1",
        "programId": str(program_id),
        "affiliateId": str(affiliate_id),
        "endpointId": endpoint.json["id"],
        "groupId": group.json["id"],
        "conversionId": sale.json["conversionId"],
        "handle": brand.rows("select subdomain from organization")[0][0],
    }


@pytest.mark.usefixtures("_refusing_services")
@pytest.mark.parametrize("name", OPERATIONS)
def test_generated_requests_get_answers_as_described(operations, brand, ids, name):
    operation = operations[_shape(name)]
    headers = _bearer(brand, operation.definition.raw["x-callers"])
    has_input = bool(operation.body) or bool(operation.query)
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE] if has_input else [GenerationMode.POSITIVE]

    for mode in modes:

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=_EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def send(case):
            case.path_parameters = {
                parameter: ids.get(parameter, value) for parameter, value in (case.path_parameters or {}).items()
            }
            case.validate_response(case.call(headers=headers), checks=_CHECKS)

        send()


@pytest.mark.parametrize("who", ["Viewer", "unverified", "read", "Free", "stranger"])
def test_refused_callers_get_answers_as_described(operations, brand, ids, who):
    bearer = _bearer_without_access(brand, who)
    statuses = set()

    for operation in operations.values():
        if operation.definition.raw["x-callers"] in ("brand", "dashboard", "affiliate"):
            body = {"media_type": "application/json", "body": {}} if operation.body else {}
            path_parameters = {name: ids.get(name, "none") for name in re.findall(r"\{([^}]*)\}", operation.path)}
            case = operation.Case(
                path_parameters=path_parameters, headers={"Authorization": f"Bearer {bearer}"}, **body
            )
            answer = case.call()
            case.validate_response(answer, checks=_CHECKS)
            statuses.add(answer.status_code)

    assert statuses & {401, 402, 403}


def _bearer_without_access(brand, who):
    if who == "Free":
        brand.set(plan="Free")
        return brand.api_key
    if who == "read":
        return brand.other_key(scope="read").api_key
    if who == "unverified":
        return brand.person("Owner", is_email_verified=False).api_key
    return brand.person("Viewer").api_key if who == "Viewer" else "nobody's"


def test_csv_of_the_audit_log_and_503_of_readiness_are_described(operations, brand):
    audit_log, ready = operations["GET /api/v1/audit-log"], operations["GET /readyz"]
    brand.set(plan="Pro")
    case = audit_log.Case(query={"format": "csv"}, headers={"Authorization": f"Bearer {brand.api_key}"})
    answer = case.call()
    case.validate_response(answer, checks=_CHECKS)
    responses = ready.definition.raw["responses"]

    assert answer.headers["content-type"] == ["text/csv; charset=utf-8"]
    assert responses["503"]["content"] == responses["200"]["content"]


def test_description_is_valid_openapi(description):
    assert description.raw_schema["openapi"] == "3.1.0"

    description.validate()


def test_every_default_is_valid_for_its_field(description):
    defaults = list(_list_schemas_with_default(description.raw_schema))

    assert defaults
    for schema in defaults:
        jsonschema_rs.validator_for(schema, validate_formats=True).validate(schema["default"])


def _list_schemas_with_default(part):
    if isinstance(part, dict) and "default" in part and "type" in part:
        yield part
    for child in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _list_schemas_with_default(child)


def _bearer(brand, audience):
    if audience == "public":
        return {}
    if audience == "affiliate":
        bearer = Partner(brand.app, _affiliate_email(brand)).token
    else:
        bearer = brand.api_key if audience in ("signed", "integration") else brand.person("Owner").api_key
    return {"Authorization": f"Bearer {bearer}"}
