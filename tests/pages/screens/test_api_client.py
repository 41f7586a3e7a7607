"""Pages call the API in the same process with the same guard, schema, key and audit entry, as the signed-in person."""

from contextlib import contextmanager

import pytest
from flask import g

from api.access import persons
from api.affiliates.affiliates import get_affiliate
from api.programs.programs import create_program, list_programs
from domain.refusals import Refused
from pages import api_client
from tests.support.outside.visitor import Visitor

_PROGRAM = {"name": "Spring", "slug": "spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


@pytest.fixture
def page_request(app, links):
    """Return a context manager that signs a member in and enters a page request that may use these operations."""

    @contextmanager
    def enter(*uses, role="Owner"):
        visitor = Visitor(app)
        visitor.open(links("owner", "--role", role))
        with app.test_request_context("/dashboard", headers={"Cookie": f"finderfee={visitor.cookie}"}):
            g.request_id, g.screen_uses = "a-request", uses
            yield

    return enter


def test_call_runs_as_the_person_with_the_requests_id(page_request, brand):
    with page_request(create_program):
        answer = api_client.call(create_program, body=_PROGRAM)

    assert (answer.status, answer.refusal) == (201, None)
    assert brand.rows(
        "select actor_type, actor_label, request_id from audit_entry where action = 'program.created'"
    ) == [("member", "owner@example.com", "a-request")]


def test_idempotency_key_makes_a_repeat_safe(page_request, brand):
    with page_request(create_program):
        first, again = (api_client.call(create_program, body=_PROGRAM, key="one-form") for _ in range(2))

    assert first.data["id"] == again.data["id"]
    assert brand.rows("select count(*) from program") == [(1,)]


def test_refusal_names_its_fields(page_request):
    with page_request(create_program):
        malformed = api_client.call(create_program, body=_PROGRAM | {"defaultCommissionType": "Gold"})
        refused = api_client.call(create_program, body=_PROGRAM | {"name": ""})

    assert malformed.status == 400
    assert "defaultCommissionType" in malformed.refusal.fields
    assert refused.status == 400
    assert refused.refusal.message


def test_operation_refused_to_a_role_is_refused_and_not_offered(page_request, brand):
    with page_request(create_program, list_programs, role="Viewer"):
        answer = api_client.call(create_program, body=_PROGRAM)

        assert (answer.status, answer.refusal.code) == (403, "forbidden")
        assert not api_client.is_allowed(create_program)
        assert api_client.is_allowed(list_programs)
    assert brand.rows("select count(*) from program") == [(0,)]


def test_another_tenants_id_returns_404(page_request, rival):
    rival.program()
    rivals_affiliate = rival.affiliate("eva")
    with page_request(get_affiliate), pytest.raises(Refused) as refused:
        api_client.require(get_affiliate, path={"affiliate_id": rivals_affiliate})

    assert refused.value.status == 404


def test_query_is_read_by_the_operations_own_schema(page_request, brand):
    brand.program()
    brand.program()
    with page_request(list_programs):
        assert len(api_client.require(list_programs, query={"take": 1, "cursor": None})["items"]) == 1
        assert api_client.call(list_programs, query={"take": "many"}).status == 400


def test_outer_request_is_unchanged(page_request):
    with page_request(list_programs):
        api_client.require(list_programs)

        assert g.request_id == "a-request"
        assert "caller" not in g


def test_undeclared_operation_cannot_be_called(page_request):
    with page_request(list_programs), pytest.raises(RuntimeError, match="create_program"):
        api_client.call(create_program, body=_PROGRAM)


def test_network_header_does_not_authenticate(app):
    for name in (persons.ENVIRON_KEY, "Finderfee.Person", "finderfee-person"):
        assert app.test_client().get("/api/v1/programs", headers={name: "x"}).status_code == 401
