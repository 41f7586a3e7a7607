"""PATCH /api/v1/affiliates/{id}, through HTTP. Source: core spec, "Affiliates" and section 3 (affiliate)."""

from decimal import Decimal
from uuid import uuid4

import pytest

from models import db, ids
from tests.support.api.concurrency import run_concurrently

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign and an endpoint for every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _change(brand, affiliate_id, body, **headers):
    return brand.call("PATCH", f"{URL}/{affiliate_id}", body, **headers)


def _list_events(brand):
    return [type for (type,) in brand.rows("select type from event order by created_at, type desc")]


def _list_audit_entries(brand):
    return brand.rows(
        "select action, before, after from audit_entry where action like 'affiliate.%%' order by created_at"
    )


def _create_group(brand, program_id):
    group_id = ids.new_id()
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into partner_group (id, organization_id, program_id, name, commission_type, commission_value)"
            " values (%s, %s, %s, %s, 'Percentage', 30)",
            (group_id, brand.id, program_id, str(group_id)),
        )
    return group_id


def test_every_field_is_changed_and_returned(campaign):
    affiliate_id, group_id = campaign.affiliate("ben"), _create_group(campaign, campaign.programs[-1])
    changes = {
        "fullName": "Ben 李",
        "status": "Paused",
        "customCommissionType": "Fixed",
        "customCommissionValue": 12.5,
        "notes": "likes tea\n🙂",
        "tags": ["gold", "Köln"],
        "partnerGroupId": str(group_id),
    }

    answer = _change(campaign, affiliate_id, changes)

    assert answer.status_code == 200
    assert {name: answer.json[name] for name in changes} == changes
    assert campaign.get(f"{URL}/{affiliate_id}").json == answer.json


def test_omitted_fields_are_unchanged(campaign):
    affiliate_id = campaign.affiliate("ben", tags=["gold"], notes="likes tea", custom_commission_type="Fixed",
                                      custom_commission_value=Decimal(5))  # fmt: skip
    before = campaign.get(f"{URL}/{affiliate_id}").json

    answer = _change(campaign, affiliate_id, {"fullName": "Benjamin"})

    assert answer.json == before | {"fullName": "Benjamin"}


@pytest.mark.parametrize("body", [{}, {"fullName": None, "status": None, "notes": None, "tags": None}])
def test_change_without_effect_is_not_audited(campaign, body):
    affiliate_id = campaign.affiliate("ben", notes="likes tea", tags=["gold"])
    before = campaign.get(f"{URL}/{affiliate_id}").json

    assert _change(campaign, affiliate_id, body).json == before
    assert _change(campaign, affiliate_id, {"notes": "likes tea", "status": "Approved"}).json == before
    assert _list_audit_entries(campaign) == []


def test_change_is_audited_with_old_and_new_values(campaign):
    affiliate_id = campaign.affiliate("ben", application_data={"website": "ben.example"})
    before = campaign.get(f"{URL}/{affiliate_id}").json

    after = _change(campaign.person("Manager"), affiliate_id, {"notes": "tea"}).json

    assert after.pop("applicationData") == {"website": "ben.example"}
    assert _list_audit_entries(campaign) == [("affiliate.updated", before, after)]


@pytest.mark.parametrize("status_before", ["Pending", "Rejected", "Paused", "Banned"])
def test_approval_sends_one_event(campaign, status_before):
    affiliate_id = campaign.affiliate(
        "ben", status=status_before, approved_at=None, application_data={"website": "ben.example"}
    )

    first = _change(campaign, affiliate_id, {"status": "Approved"}).json
    _change(campaign, affiliate_id, {"status": "Approved"})

    (event,) = campaign.rows("select type, body::jsonb->'data' from event")
    assert event == (
        "affiliate.approved",
        {
            "affiliateId": str(affiliate_id),
            "programId": first["programId"],
            "email": "ben@example.com",
            "fullName": "Ben",
            "approvedAt": first["approvedAt"],
            "applicationAnswers": {"website": "ben.example"},
        },
    )


def test_first_approval_date_is_unchanged_by_later_approvals(campaign):
    affiliate_id = campaign.affiliate("ben")
    approved_at = campaign.get(f"{URL}/{affiliate_id}").json["approvedAt"]

    _change(campaign, affiliate_id, {"status": "Paused"})
    reapproved = _change(campaign, affiliate_id, {"status": "Approved"}).json

    assert reapproved["approvedAt"] == approved_at
    assert _list_events(campaign) == ["affiliate.approved"]


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_other_status_changes_send_no_event(campaign, status):
    affiliate_id = campaign.affiliate("ben")

    assert _change(campaign, affiliate_id, {"status": status}).json["status"] == status
    assert _list_events(campaign) == []


def test_concurrent_approvals_count_once(campaign):
    affiliate_id = campaign.affiliate("ben", status="Pending", approved_at=None)

    answers = run_concurrently(*[lambda: _change(campaign, affiliate_id, {"status": "Approved"})] * 3)

    assert [answer.status_code for answer in answers] == [200] * 3
    assert _list_events(campaign) == ["affiliate.approved"]


def test_custom_rate_is_cleared_by_two_nulls(campaign):
    affiliate_id = campaign.affiliate("ben", custom_commission_type="Fixed", custom_commission_value=Decimal(5))

    answer = _change(campaign, affiliate_id, {"customCommissionType": None, "customCommissionValue": None})

    assert (answer.json["customCommissionType"], answer.json["customCommissionValue"]) == (None, None)


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
    affiliate_id = campaign.affiliate("ben")

    answer = _change(
        campaign, affiliate_id, {"customCommissionType": type, "customCommissionValue": value, "notes": "x"}
    )

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert campaign.get(f"{URL}/{affiliate_id}").json["notes"] == ""


def test_tags_are_trimmed_and_deduplicated_in_order(campaign):
    affiliate_id = campaign.affiliate("ben")

    answer = _change(campaign, affiliate_id, {"tags": [" b ", "a", "b", "B", "x" * 50]})

    assert answer.json["tags"] == ["b", "a", "B", "x" * 50]
    assert _change(campaign, affiliate_id, {"tags": []}).json["tags"] == []


def test_null_removes_the_affiliate_from_its_group(campaign):
    affiliate_id = campaign.affiliate("ben", partner_group_id=_create_group(campaign, campaign.programs[-1]))

    assert _change(campaign, affiliate_id, {"partnerGroupId": None}).json["partnerGroupId"] is None


def test_group_of_another_program_or_tenant_returns_404(campaign, rival):
    rival_group = _create_group(rival, rival.program())
    other_programs_group = _create_group(campaign, campaign.program())
    affiliate_id = campaign.affiliate("ben", program_id=campaign.programs[0])

    for group_id in (rival_group, other_programs_group, uuid4()):
        answer = _change(campaign, affiliate_id, {"partnerGroupId": str(group_id)})

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"fullName": "x" * 201}, "fullName"),
        ({"fullName": 7}, "fullName"),
        ({"fullName": "nul\x00"}, "fullName"),
        ({"status": "approved"}, "status"),
        ({"status": 10**18}, "status"),
        ({"notes": "x" * 10_001}, "notes"),
        ({"notes": "nul\x00"}, "notes"),
        ({"notes": ["x"]}, "notes"),
        ({"tags": "gold"}, "tags"),
        ({"tags": ["x"] * 51}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"tags": ["  "]}, "tags"),
        ({"tags": ["x" * 51]}, "tags"),
        ({"tags": ["nul\x00"]}, "tags"),
        ({"tags": [7]}, "tags"),
        ({"tags": [None]}, "tags"),
        ({"partnerGroupId": "gold"}, "partnerGroupId"),
        ({"partnerGroupId": 7}, "partnerGroupId"),
        ({"customCommissionType": "Percentage"}, "customCommissionValue"),
        ({"customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": None}, "customCommissionValue"),
        ({"customCommissionType": "Fixed", "customCommissionValue": None}, "customCommissionValue"),
        ({"customCommissionType": None, "customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Fixed", "customCommissionValue": "5"}, "customCommissionValue"),
    ],
)
def test_malformed_field_is_named_in_problem_details(campaign, body, field):
    affiliate_id = campaign.affiliate("ben")

    answer = _change(campaign, affiliate_id, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]
    assert _list_audit_entries(campaign) == []


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_non_object_body_returns_400(campaign, raw):
    assert _change(campaign, campaign.affiliate("ben"), raw).status_code == 400


def test_missing_affiliate_is_reported_before_invalid_body(campaign, rival):
    rival.program()
    rival_id = rival.affiliate("ben")

    for affiliate_id in (rival_id, uuid4(), "nonsense"):
        answer = _change(campaign, affiliate_id, {"status": 7})

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_repeated_idempotency_key_changes_once(campaign):
    affiliate_id = campaign.affiliate("ben")

    first = _change(campaign, affiliate_id, {"notes": "a"}, Idempotency_Key="once")
    _change(campaign, affiliate_id, {"notes": "b"})
    repeated = _change(campaign, affiliate_id, {"notes": "a"}, Idempotency_Key="once")

    assert (repeated.status_code, repeated.json) == (200, first.json)
    assert campaign.get(f"{URL}/{affiliate_id}").json["notes"] == "b"
