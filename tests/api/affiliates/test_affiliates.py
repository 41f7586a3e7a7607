"""Creating and reading affiliates as a brand, through HTTP."""

import re
from uuid import uuid4

import pytest

from tests.support.rows.brands import Brand

URL = "/api/v1/affiliates"


def _create(brand, **fields):
    body = {"programId": str(brand.programs[-1]), "email": "ada@example.com"} | fields
    return brand.post(URL, {name: value for name, value in body.items() if value is not ...})


def _list_events(brand):
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and an endpoint for every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def test_new_affiliate_is_approved_and_has_a_link(campaign):
    answer = _create(campaign, fullName=" Ada Lovelace ")

    affiliate = answer.json
    assert answer.status_code == 201
    assert {name: affiliate[name] for name in affiliate if name not in ("id", "links") and not name.endswith("At")} == {
        "programId": str(campaign.programs[-1]),
        "email": "ada@example.com",
        "fullName": "Ada Lovelace",
        "status": "Approved",
        "customCommissionType": None,
        "customCommissionValue": None,
        "partnerGroupId": None,
        "tags": [],
        "notes": "",
        "source": "Direct",
        "rejectionReason": None,
        "isTest": False,
    }
    assert affiliate["appliedAt"] == affiliate["approvedAt"] == affiliate["createdAt"]
    (link,) = affiliate["links"]
    assert set(link) == {"id", "affiliateId", "slug", "customAlias", "isDefault", "format", "url", "createdAt"}
    assert (link["affiliateId"], link["customAlias"], link["isDefault"], link["format"]) == (
        affiliate["id"],
        None,
        True,
        "Short",
    )
    assert re.fullmatch(r"[a-hj-km-np-z2-9]{8}", link["slug"])
    assert campaign.get(f"{URL}/{affiliate['id']}").json == affiliate


def test_new_affiliate_sends_created_and_approved_events(campaign):
    affiliate = _create(campaign, fullName="Ada").json

    shared = {
        "affiliateId": affiliate["id"],
        "programId": affiliate["programId"],
        "email": "ada@example.com",
        "fullName": "Ada",
    }
    assert _list_events(campaign) == [
        ("affiliate.created", shared | {"status": "Approved", "slug": affiliate["links"][0]["slug"]}),
        ("affiliate.approved", shared | {"approvedAt": affiliate["approvedAt"]}),
    ]
    assert campaign.rows("select count(*) from job where name = 'webhook.deliver'") == [(2,)]


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_other_initial_status_is_stored_without_approval(campaign, status):
    affiliate = _create(campaign, status=status).json

    assert (affiliate["status"], affiliate["approvedAt"]) == (status, None)
    assert [type for type, _ in _list_events(campaign)] == ["affiliate.created"]


def test_creation_is_audited(campaign):
    affiliate = _create(campaign).json

    assert campaign.rows("select entity_type, entity_id from audit_entry where action = 'affiliate.created'") == [
        ("affiliate", affiliate["id"])
    ]


def test_private_fields_are_not_returned(campaign):
    affiliate_id = campaign.affiliate("ben", application_data={"website": "secret.example"}, notes="likes tea")

    answer = campaign.get(f"{URL}/{affiliate_id}")

    assert answer.json["notes"] == "likes tea"
    assert b"secret.example" not in answer.data
    assert set(answer.json) == {
        "id", "programId", "email", "fullName", "status", "customCommissionType", "customCommissionValue",
        "partnerGroupId", "tags", "notes", "source", "rejectionReason", "isTest", "appliedAt", "approvedAt",
        "createdAt", "links",
    }  # fmt: skip


def test_test_key_creates_a_test_affiliate(campaign):
    test_key = campaign.other_key(is_test=True)
    test_key.programs.append(campaign.programs[-1])

    assert _create(test_key).json["isTest"] is True
    assert campaign.rows("select is_test from affiliate") == [(True,)]


def test_duplicate_email_in_any_case_is_refused(campaign):
    _create(campaign)

    duplicate = _create(campaign, email=" ADA@Example.COM ")

    assert (duplicate.status_code, duplicate.json["error"]) == (409, "affiliate_already_exists")
    assert campaign.rows("select count(*) from affiliate") == [(1,)]
    assert len(_list_events(campaign)) == 2


def test_other_tenants_program_returns_404(campaign, rival):
    rival_program = rival.program()

    foreign, unknown = _create(campaign, programId=str(rival_program)), _create(campaign, programId=str(uuid4()))

    assert (foreign.status_code, foreign.json["error"]) == (404, "not_found")
    assert (unknown.status_code, unknown.json["error"]) == (404, "not_found")
    assert rival.rows("select count(*) from affiliate") == [(0,)]


def test_custom_rate_is_returned_as_sent(campaign):
    affiliate = _create(campaign, customCommissionType="Percentage", customCommissionValue=0).json

    assert (affiliate["customCommissionType"], affiliate["customCommissionValue"]) == ("Percentage", 0)


@pytest.mark.parametrize(
    ("model", "type", "value", "code"),
    [
        ("Cps", "Percentage", 100.5, "percentage_out_of_range"),
        ("Cps", "Percentage", -1, "percentage_out_of_range"),
        ("Cps", "Fixed", 10**18, "fixed_commission_out_of_range"),
        ("Cpc", "Percentage", 5, "invalid_commission_type"),
        ("Cpl", "Fixed", 1000.5, "unit_fee_out_of_range"),
    ],
)
def test_unpayable_custom_rate_is_refused(campaign, model, type, value, code):
    campaign.program(default_commission_model=model, default_commission_type="Fixed")

    answer = _create(campaign, customCommissionType=type, customCommissionValue=value)

    assert (answer.status_code, answer.json["error"]) == (400, code)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"email": ...}, "email"),
        ({"email": None}, "email"),
        ({"email": 5}, "email"),
        ({"email": "ada"}, "email"),
        ({"email": "ada@localhost"}, "email"),
        ({"email": "a" * 65 + "@example.com"}, "email"),
        ({"email": "ada@example.com\x00"}, "email"),
        ({"email": "ada@example.com,ben@example.com"}, "email"),
        ({"email": "x" * 400 + "@example.com"}, "email"),
        ({"email": ["ada@example.com"]}, "email"),
        ({"programId": ...}, "programId"),
        ({"programId": "campaign"}, "programId"),
        ({"programId": 7}, "programId"),
        ({"fullName": "x" * 201}, "fullName"),
        ({"fullName": "nul\x00"}, "fullName"),
        ({"fullName": {"first": "Ada"}}, "fullName"),
        ({"status": "approved"}, "status"),
        ({"status": 1}, "status"),
        ({"customAlias": "Ada"}, "customAlias"),
        ({"customAlias": "ab"}, "customAlias"),
        ({"customAlias": "x" * 65}, "customAlias"),
        ({"customAlias": "ada tips"}, "customAlias"),
        ({"customAlias": "admin"}, "customAlias"),
        ({"customAlias": 12345}, "customAlias"),
        ({"customCommissionType": "Percentage"}, "customCommissionValue"),
        ({"customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Half", "customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Fixed", "customCommissionValue": "5"}, "customCommissionValue"),
    ],
)
def test_malformed_field_is_named_in_problem_details(campaign, fields, field):
    answer = _create(campaign, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]
    assert campaign.rows("select count(*) from affiliate") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, raw):
    assert campaign.post(URL, raw).status_code == 400


def test_names_and_emails_in_any_script_are_stored(campaign):
    affiliate = _create(campaign, fullName="李 🙂", email="jörg@münchen.example").json

    assert (affiliate["fullName"], affiliate["email"]) == ("李 🙂", "jörg@münchen.example")


def test_repeated_idempotency_key_creates_one_affiliate(campaign):
    body = {"programId": str(campaign.programs[-1]), "email": "ada@example.com"}

    first = campaign.post(URL, body, Idempotency_Key="once")
    repeated = campaign.post(URL, body, Idempotency_Key="once")

    assert (repeated.status_code, repeated.json) == (201, first.json)
    assert len(_list_events(campaign)) == 2


def test_affiliates_need_a_plan_and_creation_a_write_key(app, campaign):
    free, read_key = Brand.create(app, plan="Free"), campaign.other_key(scope="read")
    free.program()
    read_key.programs.append(campaign.programs[-1])

    assert _create(free).status_code == 402
    assert free.get(URL).status_code == 402
    assert _create(read_key).status_code == 403
    assert read_key.get(URL).status_code == 200
