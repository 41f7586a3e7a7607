"""The public application form, through HTTP."""

import os
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

import settings
from api.access import limits
from models import db
from models.organization import organizations
from tests.support.api.inviting import own_elsewhere
from tests.support.api.racing import at_once
from tests.support.rows.brands import Partner

PROBLEM = "application/problem+json"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def _apply(brand, body=None, *, program_id=None, headers=None, **fields):
    sent = {"email": "ada@example.com"} | fields if body is None else body
    client = brand.app.test_client()
    return client.post(f"/api/p/id/{program_id or brand.programs[-1]}/apply", json=sent, headers=headers)


def _limit(brand, affiliates):
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, {"affiliate_limit": affiliates})


def _rows(brand, columns):
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


def _events(brand):
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


def test_the_answer_tells_nothing(campaign):
    person = f"ada-{uuid4().hex}@example.com"

    answer = _apply(campaign, email=person.upper())

    assert answer.status_code == 200
    assert {name: value for name, value in answer.json.items() if name != "message"} == {
        "affiliateId": "00000000-0000-0000-0000-000000000000",
        "status": "Pending",
        "affiliateLinkSlug": None,
        "accountExists": False,
        "email": person,
    }
    assert answer.json["message"]


def test_an_application_waits_for_the_brand(campaign):
    _apply(campaign, fullName=" Ada ", website="ada.example", audience=" Cooks ", whyInterested="")

    assert _rows(campaign, "email, full_name, status, approved_at, application_data") == [
        ("ada@example.com", "Ada", "Pending", None, {"website": "ada.example", "audience": "Cooks"})
    ]
    (created,) = _events(campaign)
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


def test_an_email_is_enough(campaign):
    assert _apply(campaign).status_code == 200
    assert "applicationAnswers" not in _events(campaign)[0][1]


def test_auto_approval_shows_in_the_events_and_not_in_the_answer(campaign):
    people = [f"{name}-{uuid4().hex}@example.com" for name in ("ada", "ben")]
    waiting = _apply(campaign, email=people[0])
    campaign.program(auto_approve=True)
    approved = _apply(campaign, email=people[1], whyInterested="Tea")

    assert approved.json == waiting.json | {"email": people[1]}
    assert _rows(campaign, "status, approved_at is not null") == [("Pending", False), ("Approved", True)]
    (_, _, (type, data)) = _events(campaign)
    assert type == "affiliate.approved"
    assert data["autoApproved"] is True
    assert data["applicationAnswers"] == {"whyInterested": "Tea"}
    assert data["approvedAt"].endswith("Z")


def test_a_second_application_is_answered_alike_and_writes_nothing(campaign):
    first = _apply(campaign, customAlias="ada", fullName="Ada")
    second = _apply(campaign, customAlias="ada", fullName="Somebody else")
    cased = _apply(campaign, email="ADA@example.com")

    assert second.data == first.data == cased.data
    assert _rows(campaign, "full_name") == [("Ada",)]
    assert len(_events(campaign)) == 1


def test_an_affiliate_of_the_brand_is_left_as_they_are(campaign):
    campaign.affiliate("ada")

    answer = _apply(campaign, fullName="Somebody else", website="x")

    assert (answer.status_code, answer.json["status"]) == (200, "Pending")
    assert campaign.rows("select full_name, status, application_data from affiliate") == [("Ada", "Approved", None)]


def test_an_account_is_one_that_was_there_before(campaign, rival):
    known, stranger = f"known-{uuid4().hex}", f"stranger-{uuid4().hex}"
    rival.program()
    rival.affiliate(known)

    answers = [_apply(campaign, email=f"{name}@example.com") for name in (known, known, stranger, stranger)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True, False, False]


def test_an_alias_becomes_the_slug(campaign):
    campaign.program(auto_approve=True)
    _apply(campaign, customAlias="ada-tips")

    assert campaign.rows("select slug, custom_alias, is_default from tracking_link") == [("ada-tips", "ada-tips", True)]
    assert campaign.sale(affiliateSlug="ada-tips").status_code == 200


def test_an_alias_of_somebody_else_is_refused_to_everybody_alike(campaign):
    campaign.affiliate("ben")
    campaign.affiliate("cleo")

    stranger, affiliate = (
        _apply(campaign, customAlias="ben"),
        _apply(campaign, email="cleo@example.com", customAlias="ben"),
    )

    assert (stranger.status_code, stranger.json["error"]) == (409, "alias_already_taken")
    assert affiliate.data == stranger.data
    assert _rows(campaign, "id") == []


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
def test_a_malformed_field_is_named_in_problem_details(campaign, fields):
    answer = _apply(campaign, **fields)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)
    assert list(answer.json["errors"]) == list(fields)
    assert _rows(campaign, "id") == []


@pytest.mark.parametrize("body", [[], None, "ada@example.com", {}])
def test_a_body_without_an_email_is_refused(campaign, body):
    answer = campaign.app.test_client().post(f"/api/p/id/{campaign.programs[-1]}/apply", json=body)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)


@pytest.mark.parametrize(
    "closed", [{"is_active": False}, {"archived_at": datetime.now(UTC)}, {"suspended_at": datetime.now(UTC)}]
)
def test_a_closed_campaign_is_not_found(campaign, closed):
    campaign.program(**closed)

    answer = _apply(campaign)

    assert answer.status_code == 404
    assert _apply(campaign, program_id=uuid4()).data == answer.data
    assert _rows(campaign, "id") == []


def test_what_is_no_id_is_not_found(campaign):
    assert _apply(campaign, program_id="campaign").status_code == 404


def test_an_application_reaches_its_own_tenant_alone(campaign, rival):
    rival.program()

    _apply(campaign)

    assert len(_rows(campaign, "id")) == 1
    assert _rows(rival, "id") == []


def test_two_applications_at_once_are_one(campaign):
    answers = at_once(*[lambda: _apply(campaign, customAlias="ada")] * 3)

    assert {answer.data for answer in answers} == {answers[0].data}
    assert answers[0].status_code == 200
    assert len(_rows(campaign, "id")) == 1
    assert len(_events(campaign)) == 1


def test_too_many_from_one_address_are_stopped(campaign, monkeypatch):
    monkeypatch.setenv("RATE_LIMIT_APPLY_PER_MIN", "5")
    settings.current.cache_clear()
    extensions = campaign.app.extensions
    monkeypatch.setitem(
        extensions, "limiter", limits.Limiter(os.environ["REDIS_URL"], settings.current().web.limits_per_min)
    )

    answers = [_apply(campaign, email=f"ada{number}@example.com") for number in range(6)]

    settings.current.cache_clear()
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].data == b""


def test_an_application_is_audited_as_a_strangers(campaign):
    _apply(campaign, customAlias="ada", whyInterested="Tea")
    _apply(campaign, customAlias="ada")

    affiliate_id = _rows(campaign, "id::text")[0][0]
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


def test_a_repeated_key_gets_the_first_answer(campaign):
    headers = {"Idempotency-Key": "once"}

    first = _apply(campaign, fullName="Ada", headers=headers)
    again = _apply(campaign, fullName="Ada", headers=headers)
    other = _apply(campaign, fullName="Eve", headers=headers)

    assert (again.status_code, again.data) == (200, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert len(_rows(campaign, "id")) == 1


def test_a_full_plan_refuses_who_is_new_and_who_is_there_alike(campaign):
    _limit(campaign, 1)
    taken = _apply(campaign)

    stranger = _apply(campaign, email="ben@example.com")
    there = _apply(campaign)
    with_an_alias = _apply(campaign, email="cleo@example.com", customAlias="ada-tips")

    assert taken.status_code == 200
    assert (stranger.status_code, stranger.json["error"]) == (409, "program_at_capacity")
    assert stranger.json["message"]
    assert there.data == stranger.data == with_an_alias.data
    assert len(_rows(campaign, "id")) == 1


def test_a_plan_without_a_place_refuses_everybody(campaign):
    _limit(campaign, 0)

    assert _apply(campaign).json["error"] == "program_at_capacity"


def test_the_last_place_goes_to_one_of_two_at_once(campaign):
    _limit(campaign, 1)

    answers = at_once(*[lambda name=name: _apply(campaign, email=f"{name}@example.com") for name in ("ada", "ben")])

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert len(_rows(campaign, "id")) == 1


def test_an_account_by_sign_in_alone_exists_too(campaign):
    person = f"ada-{uuid4().hex}@example.com"
    Partner(campaign.app, person).get("/api/v1/me/sub-affiliate/recruits")

    answers = [_apply(campaign, email=person) for _ in range(2)]

    assert [answer.json["accountExists"] for answer in answers] == [True, True]


def test_whose_an_accounts_slug_is_cannot_be_found_out_by_trying_emails(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    own_elsewhere(campaign, rival, "account", slug=slug, email=email)

    theirs, another = (_apply(campaign, email=one, customAlias=slug) for one in (email, "eve@x.test"))

    assert (theirs.status_code, theirs.json["error"]) == (409, "alias_already_taken")
    assert theirs.data == another.data
    assert _rows(campaign, "id") == []


def test_who_has_a_slug_in_the_organization_keeps_it_in_another_campaign_whosever_it_is_elsewhere(campaign, rival):
    slug, email = f"slug-{uuid4().hex}", f"ada-{uuid4().hex}@example.com"
    _apply(campaign, email=email, customAlias=slug)
    own_elsewhere(campaign, rival, "account", slug=slug, email="zoe@x.test")
    campaign.program()

    kept, another = (_apply(campaign, email=one, customAlias=slug) for one in (email, "eve@x.test"))

    assert (kept.status_code, another.status_code) == (200, 409)
    assert campaign.rows("select slug from tracking_link") == [(slug,), (slug,)]


def test_a_persons_slug_of_another_campaign_is_kept_and_an_alias_is_added(campaign):
    _apply(campaign, customAlias="ada")
    campaign.program()

    _apply(campaign, customAlias="ada-two")

    links = campaign.rows(
        "select slug, custom_alias, is_default from tracking_link where program_id = %s order by slug",
        campaign.programs[-1],
    )
    assert links == [("ada", None, True), ("ada-two", "ada-two", False)]


def test_who_was_deleted_may_apply_again_under_another_alias(campaign):
    _apply(campaign, customAlias="ada")
    with db.unit_of_work(campaign.id):
        db.db.stage("update affiliate set deleted_at = %s", (datetime.now(UTC) - timedelta(days=1),))

    same, other = _apply(campaign, customAlias="ada"), _apply(campaign, customAlias="ada-two")

    assert (same.status_code, other.status_code) == (409, 200)


def test_an_invite_only_campaign_takes_applications_that_wait(campaign):
    campaign.program(network_visibility="InviteOnly", is_publicly_discoverable=False)

    assert _apply(campaign).status_code == 200
    assert _rows(campaign, "status") == [("Pending",)]


def test_an_unknown_campaign_is_said_before_a_malformed_body(campaign):
    answer = _apply(campaign, program_id=uuid4(), body={"email": 5})

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("raw", [b"{", b"\xff", b'{"email": NaN}', b"[" * 10_000, b'{"email": "\\ud800"}'])
def test_what_is_no_json_is_refused(campaign, raw):
    answer = campaign.app.test_client().post(f"/api/p/id/{campaign.programs[-1]}/apply", data=raw)

    assert (answer.status_code, answer.content_type) == (400, PROBLEM)


@pytest.mark.parametrize("email", ["ada%@example.com", "a_da@example.com", "ada+tag@example.com", "ada\\@example.com"])
def test_an_email_is_taken_as_it_is_and_never_as_a_pattern(campaign, email):
    campaign.affiliate("ada")

    answer = _apply(campaign, email=email)

    assert answer.status_code in (200, 400)
    assert [found for (found,) in _rows(campaign, "email")] == ([email] if answer.status_code == 200 else [])
