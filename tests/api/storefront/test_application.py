"""The public application form, through HTTP."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from models import db
from models.organization import organizations
from tests.support.api.applications import apply, list_applicants, list_events
from tests.support.api.concurrency import run_concurrently
from tests.support.rows.link_visits import create_limiter

PROBLEM = "application/problem+json"


def _set_affiliate_limit(brand, affiliates):
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, {"affiliate_limit": affiliates})


def test_response_reveals_nothing(campaign):
    person = f"ada-{uuid4().hex}@example.com"

    answer = apply(campaign, email=person.upper())

    assert answer.status_code == 200
    assert {name: value for name, value in answer.json.items() if name != "message"} == {
        "affiliateId": "00000000-0000-0000-0000-000000000000",
        "status": "Pending",
        "affiliateLinkSlug": None,
        "accountExists": False,
        "email": person,
    }
    assert answer.json["message"]


def test_application_is_pending_until_approved(campaign):
    apply(campaign, fullName=" Ada ", website="ada.example", audience=" Cooks ", whyInterested="")

    assert list_applicants(campaign, "email, full_name, status, approved_at, application_data") == [
        ("ada@example.com", "Ada", "Pending", None, {"website": "ada.example", "audience": "Cooks"})
    ]
    (created,) = list_events(campaign)
    affiliate_id, slug = campaign.rows("select affiliate_id, slug from tracking_link where is_default")[0]
    assert created == (
        "affiliate.created",
        {
            "affiliateId": str(affiliate_id),
            "programId": str(campaign.programs[-1]),
            "email": "ada@example.com",
            "fullName": "Ada",
            "status": "Pending",
            "slug": slug,
            "applicationAnswers": {"website": "ada.example", "audience": "Cooks"},
            "source": "public_apply",
        },
    )


def test_application_with_only_an_email_is_accepted(campaign):
    assert apply(campaign).status_code == 200
    assert "applicationAnswers" not in list_events(campaign)[0][1]


def test_auto_approval_is_in_the_events_and_not_in_the_response(campaign):
    people = [f"{name}-{uuid4().hex}@example.com" for name in ("ada", "ben")]
    pending = apply(campaign, email=people[0])
    campaign.program(auto_approve=True)
    approved = apply(campaign, email=people[1], whyInterested="Tea")

    assert approved.json == pending.json | {"email": people[1]}
    assert list_applicants(campaign, "status, approved_at is not null") == [("Pending", False), ("Approved", True)]
    (_, _, (type, data)) = list_events(campaign)
    assert type == "affiliate.approved"
    assert data["autoApproved"] is True
    assert data["applicationAnswers"] == {"whyInterested": "Tea"}
    assert data["approvedAt"].endswith("Z")


@pytest.mark.parametrize(
    "fields",
    [
        {"email": None},
        {"email": "ada"},
        {"email": 5},
        {"email": "ada@example.com\x00"},
        {"customAlias": "Ada"},
        {"customAlias": "ab"},
        {"customAlias": "x" * 65},
        {"customAlias": "ada_tips"},
        {"customAlias": "admin"},
        {"customAlias": ["ada"]},
        {"fullName": "x" * 201},
        {"fullName": 7},
        {"website": "x" * 2049},
        {"audience": "nul\x00"},
        {"whyInterested": {"because": 1}},
    ],
)
def test_malformed_field_is_named_in_problem_details(campaign, fields):
    answer = apply(campaign, **fields)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)
    assert list(answer.json["errors"]) == list(fields)
    assert list_applicants(campaign, "id") == []


@pytest.mark.parametrize("body", [[], None, "ada@example.com", {}])
def test_body_without_an_email_returns_400(campaign, body):
    answer = campaign.app.test_client().post(f"/api/p/id/{campaign.programs[-1]}/apply", json=body)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)


@pytest.mark.parametrize(
    "closed", [{"is_active": False}, {"archived_at": datetime.now(UTC)}, {"suspended_at": datetime.now(UTC)}]
)
def test_closed_campaign_returns_404(campaign, closed):
    campaign.program(**closed)

    answer = apply(campaign)

    assert answer.status_code == 404
    assert apply(campaign, program_id=uuid4()).data == answer.data
    assert list_applicants(campaign, "id") == []


def test_malformed_id_returns_404(campaign):
    assert apply(campaign, program_id="campaign").status_code == 404


def test_application_belongs_to_its_tenant(campaign, rival):
    rival.program()

    apply(campaign)

    assert len(list_applicants(campaign, "id")) == 1
    assert list_applicants(rival, "id") == []


def test_concurrent_applications_create_one_affiliate(campaign):
    answers = run_concurrently(*[lambda: apply(campaign, customAlias="ada")] * 3)

    assert {answer.data for answer in answers} == {answers[0].data}
    assert answers[0].status_code == 200
    assert len(list_applicants(campaign, "id")) == 1
    assert len(list_events(campaign)) == 1


def test_too_many_requests_from_one_address_return_429(campaign, monkeypatch):
    monkeypatch.setitem(campaign.app.extensions, "limiter", create_limiter(apply=5))

    answers = [apply(campaign, email=f"ada{number}@example.com") for number in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].data == b""


def test_application_is_audited_as_public(campaign):
    apply(campaign, customAlias="ada", whyInterested="Tea")
    apply(campaign, customAlias="ada")

    affiliate_id = list_applicants(campaign, "id::text")[0][0]
    entries = campaign.rows(
        "select action, entity_id, actor_type, after from audit_entry where entity_type = 'affiliate' order by action"
    )
    assert [entry[:3] for entry in entries] == [
        ("affiliate.applied", affiliate_id, "public"),
        ("affiliate.applied_again", affiliate_id, "public"),
    ]
    assert (entries[0][3]["status"], entries[0][3]["links"][0]["slug"]) == ("Pending", "ada")
    assert "applicationData" not in entries[0][3]
    assert entries[1][3] is None


def test_repeated_idempotency_key_returns_the_first_response(campaign):
    headers = {"Idempotency-Key": "once"}

    first = apply(campaign, fullName="Ada", headers=headers)
    again = apply(campaign, fullName="Ada", headers=headers)
    other = apply(campaign, fullName="Eve", headers=headers)

    assert (again.status_code, again.data) == (200, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert len(list_applicants(campaign, "id")) == 1


def test_full_plan_refuses_new_and_existing_applicants_alike(campaign):
    _set_affiliate_limit(campaign, 1)
    accepted = apply(campaign)

    stranger = apply(campaign, email="ben@example.com")
    existing = apply(campaign)
    with_alias = apply(campaign, email="cleo@example.com", customAlias="ada-tips")

    assert accepted.status_code == 200
    assert (stranger.status_code, stranger.json["error"]) == (409, "program_at_capacity")
    assert stranger.json["message"]
    assert existing.data == stranger.data == with_alias.data
    assert len(list_applicants(campaign, "id")) == 1


def test_plan_without_a_place_refuses_every_applicant(campaign):
    _set_affiliate_limit(campaign, 0)

    assert apply(campaign).json["error"] == "program_at_capacity"


def test_concurrent_applications_share_the_last_place(campaign):
    _set_affiliate_limit(campaign, 1)

    answers = run_concurrently(
        *[lambda name=name: apply(campaign, email=f"{name}@example.com") for name in ("ada", "ben")]
    )

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert len(list_applicants(campaign, "id")) == 1


def test_invite_only_campaign_accepts_pending_applications(campaign):
    campaign.program(network_visibility="InviteOnly", is_publicly_discoverable=False)

    assert apply(campaign).status_code == 200
    assert list_applicants(campaign, "status") == [("Pending",)]


def test_unknown_campaign_returns_404_before_body_validation(campaign):
    answer = apply(campaign, program_id=uuid4(), body={"email": 5})

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("raw", [b"{", b"\xff", b'{"email": NaN}', b"[" * 10_000, b'{"email": "\\ud800"}'])
def test_malformed_json_returns_400(campaign, raw):
    answer = campaign.app.test_client().post(f"/api/p/id/{campaign.programs[-1]}/apply", data=raw)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)


@pytest.mark.parametrize("email", ["ada%@example.com", "a_da@example.com", "ada+tag@example.com", "ada\\@example.com"])
def test_email_is_literal_and_never_a_pattern(campaign, email):
    campaign.affiliate("ada")

    answer = apply(campaign, email=email)

    assert answer.status_code in (200, 400)
    assert [stored_email for (stored_email,) in list_applicants(campaign, "email")] == (
        [email] if answer.status_code == 200 else []
    )
