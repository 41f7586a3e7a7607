"""Responses about payouts match the OpenAPI document. Source: core spec, "Payout" and "Payouts"."""

import jsonschema_rs
import pytest

from tests.support.api.payouts import URL, create_payout, owner_session, run_payouts
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    return Payroll.create(app, rail="fail")


@pytest.fixture
def check_response(payroll):
    """Return a function that checks a response against the OpenAPI document."""
    document = payroll.brand.app.test_client().get("/api/openapi.json").json
    components = document["components"]

    def check(answer, method: str, path: str) -> None:
        responses = document["paths"][path][method]["responses"]
        schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
        jsonschema_rs.validate({**schema, "components": components}, answer.json)
        assert set(answer.json) <= set(components["schemas"][schema["$ref"].rpartition("/")[2]]["properties"])

    return check


def test_every_response_matches_the_openapi_document(payroll, check_response):
    payroll.rate("EUR", "0.8")
    for slug, currency in (("ann", "EUR"), ("ben", "CHF")):
        payroll.affiliate(slug)
        payroll.sell(slug, 10_000, currency)
    payout_id = create_payout(payroll)
    payroll.pay()
    person = owner_session(payroll)
    payroll.sell("ann")

    check_response(person.post(f"{URL}/preview"), "post", f"{URL}/preview")
    check_response(person.post(f"{URL}/run", {"confirmTotalCents": 2_000}), "post", f"{URL}/run")
    check_response(person.get(URL), "get", URL)
    check_response(person.get(f"{URL}/{payout_id}"), "get", f"{URL}/{{payoutId}}")
    check_response(person.get(f"{URL}/funding/status"), "get", f"{URL}/funding/status")
    check_response(person.post(f"{URL}/{payout_id}/retry"), "post", f"{URL}/{{payoutId}}/retry")
    payroll.pay()
    check_response(person.post(f"{URL}/{payout_id}/void"), "post", f"{URL}/{{payoutId}}/void")
    marked = person.post(
        f"{URL}/{run_payouts(payroll)['payouts'][0]['payoutId']}/mark-paid", {"externalTransactionId": "b 1"}
    )
    check_response(marked, "post", f"{URL}/{{payoutId}}/mark-paid")


def test_openapi_document_states_the_callers_of_a_run(payroll):
    paths = payroll.brand.app.test_client().get("/api/openapi.json").json["paths"]
    operation = paths[f"{URL}/run"]["post"]

    assert {name: value for name, value in operation.items() if name.startswith("x-")} == {
        "x-callers": "dashboard",
        "x-role": "Owner",
        "x-needs-login": True,
        "x-fresh-login-s": 3600,
        "x-rate-limit": "standard",
    }
    assert operation["responses"]["403"]["x-codes"] == ["fresh_login_required", "interactive_session_required"]
    assert "confirm_total_mismatch" in operation["responses"]["409"]["x-codes"]


@pytest.mark.parametrize("address", ["/docs/payouts", "/llms/api.txt"])
def test_docs_name_the_interactive_session(payroll, address):
    assert "interactive session" in payroll.brand.app.test_client().get(address).text
