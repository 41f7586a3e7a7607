"""Whatever the description allows, and what it does not: no route fails, and answers look as described.

Each operation gets a few generated requests, good ones and bad ones, from a caller whom its guard lets in and with ids
that are there.
"""

import csv
import re
from pathlib import Path

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

from tests.brands import Partner

_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_LIST = Path(__file__).parents[1] / "rules" / "interface.tsv"
with _LIST.open(newline="") as file:
    OPERATIONS = [f"{row['method']} {row['path']}" for row in csv.DictReader(file, delimiter="\t")]
OPERATIONS.remove("GET /api/openapi.json")  # the description does not test itself
_EXAMPLES = 5


def _shape(path):
    return re.sub(r"\{[^}]*\}", "{}", path)


@pytest.fixture(scope="module")
def described(app):
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", app)
    return {
        f"{operation.ok().method.upper()} {_shape(operation.ok().path)}": operation.ok()
        for operation in schema.get_all_operations()
    }


@pytest.fixture
def ids(brand):
    """Return what stands in a path, by its name there."""
    brand.set(plan="Pro")
    program_id = brand.program()
    affiliate_id = brand.affiliate("ben")
    endpoint = brand.post("/api/v1/webhooks", {"url": "https://receiver.example.com/", "events": ["*"]})
    group = brand.post(
        f"/api/v1/programs/{program_id}/partner-groups",
        {"name": "Gold", "commissionType": "Percentage", "commissionValue": 30},
    )
    sale = brand.sale()
    return {
        "programId": str(program_id),
        "affiliateId": str(affiliate_id),
        "endpointId": endpoint.json["id"],
        "groupId": group.json["id"],
        "conversionId": sale.json["conversionId"],
        "handle": brand.rows("select subdomain from organization")[0][0],
    }


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_a_route(described, brand, ids, name):
    operation = described[_shape(name)]
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


def _bearer(brand, audience):
    if audience == "public":
        return {}
    if audience == "affiliate":
        bearer = Partner(brand.app, "ben@example.com").token
    else:
        bearer = brand.api_key if audience == "signed" else brand.person("Owner").api_key
    return {"Authorization": f"Bearer {bearer}"}
